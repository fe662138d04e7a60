/**
 * A receiver in a Fastify app. Fastify must leave the body as it came: signatures are over its bytes.
 * Run it beside a member: node --conditions=source examples/receiver-fastify.ts
 */
import { Carillon, receiver } from '@carillon/client';
import Fastify from 'fastify';

const { promise: done, resolve } = Promise.withResolvers<void>();
// The same as in the members' `callbacks.signingSecrets`, where they sign.
const secret = process.env['CARILLON_SECRET'];
const receive = receiver(
  (pop) => {
    console.log(`Fastify: pop ${pop.sequence} of "${pop.opaque}"`);
    resolve();
  },
  secret === undefined ? {} : { secret },
);

const app = Fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) =>
  parsed(null, body),
);
app.post<{ Body: Buffer | undefined }>('/callbacks', async (request, reply) => {
  const answer = await receive(
    new Request('http://receiver/callbacks', {
      method: 'POST',
      headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      body: request.body === undefined ? null : Uint8Array.from(request.body),
    }),
  );
  return reply
    .code(answer.status)
    .headers(Object.fromEntries(answer.headers))
    .send(await answer.text());
});

const url = await app.listen({ port: 0, host: '127.0.0.1' });
const carillon = new Carillon({
  members: [process.env['CARILLON_SERVER'] ?? 'http://127.0.0.1:7253'],
});
await carillon.set({ in: '200ms', uri: `${url}/callbacks`, opaque: '{"order": 17}' });
await done;
await app.close();
