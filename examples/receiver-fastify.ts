/**
 * A receiver in a Fastify app. The plugin leaves bodies as they came, for its own route: signatures are over their
 * bytes. Run it beside a member: node --conditions=source examples/receiver-fastify.ts
 */
import { Carillon, handler, receiver } from '@carillon/client';
import { toFastify } from '@carillon/client/fastify';
import Fastify from 'fastify';

interface Order {
  readonly order: number;
}

const { promise: done, resolve } = Promise.withResolvers<void>();
// The same as in the members' `callbacks.signingSecrets`, where they sign.
const secret = process.env['CARILLON_SECRET'];
const receive = receiver({
  ...(secret === undefined ? {} : { secret }),
  handlers: {
    'order-timeout': handler<Order>(({ sequence, data }) => {
      console.log(`Fastify: pop ${sequence} of order ${data.order}`);
      resolve();
    }),
  },
});

const app = Fastify();
await app.register(toFastify(receive, '/callbacks'));

const url = await app.listen({ port: 0, host: '127.0.0.1' });
const carillon = new Carillon({
  members: [process.env['CARILLON_SERVER'] ?? 'http://127.0.0.1:7253'],
});
await carillon.set<Order>({
  in: '200ms',
  uri: `${url}/callbacks`,
  name: 'order-timeout',
  data: { order: 17 },
});
await done;
await app.close();
