/** `@carillon/client/hono`: `app.post('/callbacks', toHono(receive))`. */
import type { Receive } from './listener.ts';

export function toHono(
  receive: Receive,
): (context: { readonly req: { readonly raw: Request } }) => Promise<Response> {
  return ({ req }) => receive(req.raw);
}
