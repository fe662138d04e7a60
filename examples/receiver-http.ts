/**
 * A receiver behind `node:http`. The other examples take `listen` from here.
 * Run it beside a member: node --conditions=source examples/receiver-http.ts
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Carillon, receiver } from '@carillon/client';
import { toListener } from '@carillon/client/node';

export interface Listening {
  readonly url: string;
  /** Answers the requests that have come, then takes no more. */
  readonly close: () => void;
}

/** Serves a fetch-style function on loopback; port 0 takes any free one. */
export async function listen(
  receive: (request: Request) => Promise<Response>,
  port = 0,
): Promise<Listening> {
  const server = createServer(toListener(receive));
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      // Callers keep connections open; once the last answer is sent, they have no reason to.
      server.keepAliveTimeout = 1;
      server.close();
    },
  };
}

if (import.meta.main) {
  const carillon = new Carillon({
    members: [process.env['CARILLON_SERVER'] ?? 'http://127.0.0.1:7253'],
  });
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const receive = receiver((pop) => {
    console.log(`pop ${pop.sequence} of "${pop.opaque}"`);
    resolve();
  });
  const { url, close } = await listen(receive);
  await carillon.set({ in: '200ms', uri: `${url}/callbacks`, opaque: 'hello' });
  await done;
  close();
}
