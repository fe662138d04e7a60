/** A receiver in a process of its own: records how late each callback arrives, and tells on request. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const latenessMs: number[] = [];
const server = createServer((request, response) => {
  if (request.url === '/lateness') {
    response.end(JSON.stringify(latenessMs));
    return;
  }
  // Finer than the whole milliseconds of Date.now.
  const wallMs = performance.timeOrigin + performance.now();
  latenessMs.push(wallMs - Date.parse(String(request.headers['x-timer-due'])));
  request.resume();
  request.on('end', () => response.end());
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }));
});
process.on('SIGTERM', () => process.exit(0));
