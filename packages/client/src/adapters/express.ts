/**
 * `@carillon/client/express`: `app.post('/callbacks', toExpress(receive))`, before any middleware that parses bodies,
 * or with `express.raw({ type: () => true })` in front: signatures are over the bytes of the body.
 */
import { checkReceive } from '../plain.ts';
import {
  type IncomingRequest,
  type OutgoingResponse,
  plainAnswer,
  type Receive,
  toListener,
  webAnswer,
  write,
} from './listener.ts';

export interface ExpressRequest extends IncomingRequest {
  /** Bytes behind `express.raw`, an object behind `express.json`. */
  readonly body?: unknown;
}

type Next = (error?: unknown) => void;

export function toExpress(
  receive: Receive,
): (request: ExpressRequest, response: OutgoingResponse, next: Next) => void {
  checkReceive(receive, 'toExpress');
  const direct = toListener(receive);
  return (request, response, next) => {
    const { body } = request;
    if (body === undefined) return direct(request, response);
    if (body instanceof Uint8Array) {
      fromBytes(receive, request, response, body).catch(next);
      return;
    }
    next(
      new Error(
        'A callback reached toExpress with a parsed body: put the route before express.json(), or express.raw() in front of it.',
      ),
    );
  };
}

async function fromBytes(
  receive: Receive,
  request: ExpressRequest,
  response: OutgoingResponse,
  body: Uint8Array,
): Promise<void> {
  const { method = 'POST', url = '/', headers } = request;
  const { plain } = receive;
  const answer =
    plain === undefined
      ? await webAnswer(receive, { method, path: url, headers, body })
      : await plainAnswer(plain, request, body);
  write(response, answer);
}
