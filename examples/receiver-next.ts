/**
 * A receiver in a Next app: this would be `app/callbacks/route.ts`. A route handler of Next is a function from
 * `Request` to `Response`; Next itself is not installed here, so the function is called as Next would. Run it beside a
 * member: node --conditions=source examples/receiver-next.ts
 */
import { Carillon, handler, receiver } from '@carillon/client';
import { toNext } from '@carillon/client/next';
import { listen } from './receiver-http.ts';

interface Order {
  readonly order: number;
}

const { promise: done, resolve } = Promise.withResolvers<void>();
// The same as in the members' `callbacks.signingSecrets`, where they sign.
const secret = process.env['CARILLON_SECRET'];

export const POST = toNext(
  receiver({
    ...(secret === undefined ? {} : { secret }),
    handlers: {
      'order-timeout': handler<Order>(({ sequence, data }) => {
        console.log(`Next: pop ${sequence} of order ${data.order}`);
        resolve();
      }),
    },
  }),
);

const { url, close } = await listen((request) => POST(request));
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
