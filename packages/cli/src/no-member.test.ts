/** Commands whose server is no member: another web server at the address, or a proxy's own page. */
import { createServer, type Server } from 'node:http';
import { createServer as createPlainServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { release } from './index.ts';
import { run } from './run.ts';
import { recordingIo } from './testing/world.ts';

const id = '0d1e1d1ab81140010000204080102040-2';

const answers = [
  ['200 with HTML', 200, '<html>Welcome</html>'],
  ['200 without a body', 200, ''],
  ['200 with JSON of another service', 200, '{"status":"ok"}'],
  ['404 with HTML', 404, '<html>Not found</html>'],
] as const;

describe.each(answers)('a server that answers %s', (_what, status, body) => {
  let server: Server;
  let url = '';
  beforeEach(async () => {
    server = createServer((_request, response) => {
      response.writeHead(status, { connection: 'close' }).end(body);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  });
  afterEach(() => void server.close());

  test.each([
    ['cluster status', ['cluster', 'status']],
    ['cluster members', ['cluster', 'members']],
    ['cluster resync', ['cluster', 'resync']],
    ['set', ['set', '10s', 'http://127.0.0.1:9/x']],
    ['get', ['get', id]],
    ['get --json', ['get', id, '--json']],
    ['list', ['list']],
    ['list --json', ['list', '--json']],
    ['cancel', ['cancel', id]],
    ['run', ['run', id]],
    ['history', ['history', id]],
    ['audit', ['audit']],
    ['export', ['export']],
    ['dead-letters list', ['dead-letters', 'list']],
    ['dead-letters redeliver', ['dead-letters', 'redeliver', id]],
    ['preview', ['preview', '10s']],
    ['doctor', ['doctor']],
  ])('%s says that it is no member, and exits 1', async (_name, args) => {
    const io = recordingIo({ CARILLON_SERVER: url });
    expect(await run(args, io, release)).toBe(1);
    expect(io.errLines.join('\n')).toContain('answered, but not as a Carillon member does');
    expect(io.outLines).toEqual([]);
  });
});

test('a server that closes http connections may speak https, and the error says how to ask it so', async () => {
  const server = createPlainServer((socket) => socket.once('data', () => socket.destroy()));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = `127.0.0.1:${(server.address() as { port: number }).port}`;
  const io = recordingIo();
  expect(await run(['list', '--server', address], io, release)).toBe(1);
  server.close();
  expect(io.errLines.join('\n')).toContain(`if it does, say --server https://${address}, with`);
});
