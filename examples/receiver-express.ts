/**
 * A receiver in an Express app. Express must leave the body as it came: signatures are over its bytes.
 * Run it beside a member: node --conditions=source examples/receiver-express.ts
 */
import type { AddressInfo } from 'node:net';
import { Carillon, receiver } from '@carillon/client';
import express, { type RequestHandler } from 'express';

/** Any fetch-style function as a handler of Express. */
function fromFetch(receive: (request: Request) => Promise<Response>): RequestHandler {
  return async (req, res) => {
    const answer = await receive(
      new Request('http://receiver/callbacks', {
        method: 'POST',
        headers: Object.entries(req.headers).map(([name, value]) => [name, String(value)]),
        // Without a body Express leaves an empty object.
        body: Buffer.isBuffer(req.body) ? Uint8Array.from(req.body) : null,
      }),
    );
    res.status(answer.status).set(Object.fromEntries(answer.headers));
    res.send(await answer.text());
  };
}

const { promise: done, resolve } = Promise.withResolvers<void>();
// The same as in the members' `callbacks.signingSecrets`, where they sign.
const secret = process.env['CARILLON_SECRET'];
const receive = receiver(
  (pop) => {
    console.log(`Express: pop ${pop.sequence} of "${pop.opaque}"`);
    resolve();
  },
  secret === undefined ? {} : { secret },
);

const app = express();
app.post('/callbacks', express.raw({ type: () => true, limit: '1mb' }), fromFetch(receive));
const server = app.listen(0, '127.0.0.1');
await new Promise((listening) => {
  server.once('listening', listening);
});

const { port } = server.address() as AddressInfo;
const carillon = new Carillon({
  members: [process.env['CARILLON_SERVER'] ?? 'http://127.0.0.1:7253'],
});
await carillon.set({
  in: '200ms',
  uri: `http://127.0.0.1:${port}/callbacks`,
  opaque: '{"order": 17}',
});
await done;
server.close();
