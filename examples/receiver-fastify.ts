/**
 * A receiver in a Fastify app. The plugin leaves bodies as they came, for its own route: signatures are over their bytes.
 * Run it beside a member: node --conditions=source examples/receiver-fastify.ts
 */
import { Carillon, receiver } from '@carillon/client';
import { toFastify } from '@carillon/client/fastify';
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
await app.register(toFastify(receive, '/callbacks'));

const url = await app.listen({ port: 0, host: '127.0.0.1' });
const carillon = new Carillon({
  members: [process.env['CARILLON_SERVER'] ?? 'http://127.0.0.1:7253'],
});
await carillon.set({ in: '200ms', uri: `${url}/callbacks`, opaque: '{"order": 17}' });
await done;
await app.close();
