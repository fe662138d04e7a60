/**
 * A receiver in an Express app. The route stands before middleware that parses bodies: signatures are over their bytes.
 * Run it beside a member: node --conditions=source examples/receiver-express.ts
 */
import type { AddressInfo } from 'node:net';
import { Carillon, handler, receiver } from '@carillon/client';
import { toExpress } from '@carillon/client/express';
import express from 'express';

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
      console.log(`Express: pop ${sequence} of order ${data.order}`);
      resolve();
    }),
  },
});

const app = express();
app.post('/callbacks', toExpress(receive));
app.use(express.json());
const server = app.listen(0, '127.0.0.1');
await new Promise((listening) => {
  server.once('listening', listening);
});

const { port } = server.address() as AddressInfo;
const carillon = new Carillon({
  members: [process.env['CARILLON_SERVER'] ?? 'http://127.0.0.1:7253'],
});
await carillon.set<Order>({
  in: '200ms',
  uri: `http://127.0.0.1:${port}/callbacks`,
  name: 'order-timeout',
  data: { order: 17 },
});
await done;
server.close();
