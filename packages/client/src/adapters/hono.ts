/** `@carillon/client/hono`: `app.post('/callbacks', toHono(receive))`. */
import { checkReceive } from '../plain.ts';
import type { Receive } from './listener.ts';

export function toHono(
  receive: Receive,
): (context: { readonly req: { readonly raw: Request } }) => Promise<Response> {
  checkReceive(receive, 'toHono');
  return ({ req }) => receive(req.raw);
}
