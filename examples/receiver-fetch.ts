/**
 * A receiver where requests already are `Request` objects: workers, Deno, Bun, Hono, Next. There the function itself is
 * the handler, and the line that hands it over is all that differs:
 *
 *   export default { fetch: receive }                      // workers, `deno serve`, Bun
 *   app.post('/callbacks', (c) => receive(c.req.raw))      // Hono
 *   export const POST = receive                            // Next: app/callbacks/route.ts
 *
 * Run it: node --conditions=source examples/receiver-fetch.ts. No member is needed: it sends itself the callbacks that
 * a member would, one of them twice, as can happen after a fault, and one without a signature.
 */
import { createHmac } from 'node:crypto';
import { receiver } from '@carillon/client';

/** The same as in the members' `callbacks.signingSecrets`. */
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const receive = receiver((pop) => console.log(`handled: ${pop.opaque}`), { secret });

export default { fetch: receive };

/** A request as a member sends it: see "The callback" in docs/http-api.md. */
function callback(opaque: string, key: string): Request {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', Buffer.from(key.slice('whsec_'.length), 'base64'))
    .update(`pop-1.${timestamp}.${opaque}`)
    .digest('base64');
  return new Request('http://receiver/callbacks', {
    method: 'POST',
    headers: {
      'x-timer-id': '0d1e1d1ab81140010000204080102040-2',
      'x-sequence-number': '1',
      'webhook-id': 'pop-1',
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    },
    body: opaque,
  });
}

if (import.meta.main) {
  const stranger = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
  const answers = [
    await receive(callback('order 17', secret)),
    await receive(callback('order 17', secret)),
    await receive(callback('order 18', stranger)),
  ];
  console.log(`answered: ${answers.map(({ status }) => status).join(', ')}`);
}
