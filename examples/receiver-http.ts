/**
 * A receiver behind `node:http`. The other examples take `listen` from here; copy it, it is all the adapter there is.
 * Run it beside a member: node --conditions=source examples/receiver-http.ts
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { Carillon, receiver } from '@carillon/client';

export interface Listening {
  readonly url: string;
  /** Answers what has come, then takes no more. */
  readonly close: () => void;
}

/** Serves a fetch-style function on loopback; port 0 takes any free one. */
export async function listen(
  receive: (request: Request) => Promise<Response>,
  port = 0,
): Promise<Listening> {
  let isClosing = false;
  const server = createServer((incoming, outgoing) => {
    receive(requestOf(incoming)).then(
      async (answer) => {
        // Callers keep connections open; one that is about to close says so with its last answer.
        if (isClosing) outgoing.setHeader('connection', 'close');
        outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
        outgoing.end(await answer.text());
      },
      // The caller went away before it had sent everything.
      () => outgoing.destroy(),
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      isClosing = true;
      server.close();
    },
  };
}

/** The body goes on as a stream: `receiver` reads it, up to its limit. */
function requestOf(incoming: IncomingMessage): Request {
  const { method = 'POST', url = '/', headers } = incoming;
  const isBare = method === 'GET' || method === 'HEAD';
  // `duplex` must be said for a body that is a stream; not all type declarations know it.
  const init: RequestInit & { duplex: 'half' } = {
    method,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
    body: isBare ? null : (Readable.toWeb(incoming) as ReadableStream),
    duplex: 'half',
  };
  return new Request(`http://receiver${url}`, init);
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
