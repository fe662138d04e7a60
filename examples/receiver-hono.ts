/**
 * A receiver in a Hono app.
 * Run it beside a member: node --conditions=source examples/receiver-hono.ts
 */
import { Carillon, handler, receiver } from '@carillon/client';
import { toHono } from '@carillon/client/hono';
import { Hono } from 'hono';
import { listen } from './receiver-http.ts';

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
      console.log(`Hono: pop ${sequence} of order ${data.order}`);
      resolve();
    }),
  },
});

const app = new Hono();
app.post('/callbacks', toHono(receive));

// Here on node:http; workers, Deno and Bun take `export default app`.
const { url, close } = await listen(async (request) => app.fetch(request));
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
close();
