/** `@carillon/client/next`: `export const POST = toNext(receive)` in `app/callbacks/route.ts`. */
import { checkReceive } from '../plain.ts';
import type { Receive } from './listener.ts';

/** Next hands a second argument to route handlers, which a receiver has no use for. */
export function toNext(receive: Receive): (request: Request) => Promise<Response> {
  checkReceive(receive, 'toNext');
  return (request) => receive(request);
}
