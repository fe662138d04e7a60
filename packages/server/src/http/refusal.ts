/** Reasons to turn a request away before it reaches a route: the answer to the client, and the name in metrics. */
import { CarillonError, type ErrorCode } from '@carillon/core';
import type { ApiResponse } from './message.ts';
import { problemResponse } from './problem.ts';

export type RequestRefusalReason =
  | 'not_allowed'
  | 'in_flight'
  | 'unread'
  | 'too_large'
  | 'too_slow'
  | 'malformed'
  | 'stopping';

export class HttpRefusal {
  readonly reason: RequestRefusalReason;
  readonly response: ApiResponse;

  constructor(reason: RequestRefusalReason, response: ApiResponse) {
    this.reason = reason;
    this.response = response;
  }
}

function refusal(reason: RequestRefusalReason, code: ErrorCode, detail: string): HttpRefusal {
  return new HttpRefusal(reason, problemResponse(new CarillonError(code, detail)));
}

function malformed(detail: string): HttpRefusal {
  return refusal('malformed', 'bad_request', detail);
}

export const refusals = {
  notHttp: malformed('The request is not HTTP/1.1.'),
  requestLine: malformed(
    'The request line is not a method, a target and HTTP/1.1 with one space between each.',
  ),
  target: malformed(
    'The target is neither a path with an optional query nor an absolute http or https URL.',
  ),
  lineEnd: malformed('A line does not end with CR LF, or has a control character in it.'),
  headerLine: malformed(
    'A header is not a name, a colon right behind it, and a value on one line.',
  ),
  hostMissing: malformed('The request has no Host header.'),
  host: malformed('The Host header is there twice, or is not a name with an optional port.'),
  length: malformed('The Content-Length is there twice, or is not a whole number.'),
  transferEncoding: malformed('Of transfer codings, only chunked alone is understood.'),
  framing: malformed('Content-Length and Transfer-Encoding do not go together.'),
  chunk: malformed('A chunk of the body is malformed, or has a long extension.'),
  trailer: malformed('The lines after the last chunk are not headers.'),
  trailerName: malformed('A header after the last chunk belongs before the body.'),
  brokenOff: malformed('The request breaks off.'),
  targetTooLong: refusal(
    'malformed',
    'target_too_long',
    'The request line is longer than is allowed.',
  ),
  headersTooLarge: refusal(
    'malformed',
    'headers_too_large',
    'Request line and headers are larger, or the headers more, than is allowed.',
  ),
  expectation: refusal(
    'malformed',
    'expectation_failed',
    'The only expectation that can be met is 100-continue.',
  ),
  encoded: refusal('malformed', 'unsupported_media', 'Send the body without a content-encoding.'),
  proxy: new HttpRefusal(
    'malformed',
    problemResponse(new CarillonError('method_not_allowed', 'This is not a proxy.'), [
      'allow',
      'GET, HEAD, POST, PUT, DELETE, OPTIONS',
    ]),
  ),
  tooSlow: refusal('too_slow', 'too_slow', 'The request did not arrive in time.'),
  bodies: refusal('in_flight', 'overloaded', 'The member is reading too many large bodies.'),
  requests: refusal(
    'in_flight',
    'overloaded',
    'The member is working on as many requests as it can.',
  ),
  unread: refusal(
    'unread',
    'overloaded',
    'Clients have not read as many long answers as the member can keep.',
  ),
  stopping: refusal('stopping', 'stopping', 'The member is stopping; ask another one.'),
};

/** The limit differs from route to route. */
export function bodyTooLarge(bodyBytesMax: number): HttpRefusal {
  const detail = `The body is larger than ${bodyBytesMax} bytes, the most that is allowed here.`;
  return refusal('too_large', 'too_large', detail);
}
