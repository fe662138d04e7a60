/** Servers of tests, on a free port of loopback. */
import type { AddressInfo, Server } from 'node:net';

/** Resolves with the port when the server takes connections. */
export async function listening(server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return (server.address() as AddressInfo).port;
}
