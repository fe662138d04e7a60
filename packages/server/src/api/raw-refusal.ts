/** An answer on a bare socket, for requests that never became one, and the end of the connection. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiResponse } from './message.ts';

export function rawRefusal(socket: Socket, response: ApiResponse): void {
  const lines = [`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ''}`];
  for (let i = 0; i < response.headers.length; i += 2) {
    lines.push(`${response.headers[i]}: ${response.headers[i + 1]}`);
  }
  lines.push(`content-length: ${Buffer.byteLength(response.body)}`, 'connection: close', '', '');
  socket.on('error', () => socket.destroy());
  socket.write(lines.join('\r\n') + response.body);
  socket.destroySoon();
}
