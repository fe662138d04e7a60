/** Requests and answers as plain data: the listener turns sockets into these, tests and the simulator make them by hand. */
import type { Outflow } from './outflow.ts';

export interface ApiRequest {
  readonly method: string;
  /** Without the query; starts with a slash. */
  readonly path: string;
  /** What follows the question mark; empty without one. */
  readonly query: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
  /** Address of the client, where there is one. */
  readonly remote?: string;
}

export interface ApiResponse {
  readonly status: number;
  /** Name, value, name, value …: the form that costs nothing to send. Without content-length. */
  readonly headers: readonly string[];
  readonly body: string;
  /** Writes the body instead, at once or over time. Then `body` is empty, and a content-length, if any, is among the headers. */
  readonly stream?: (out: Outflow) => void;
}

const jsonHeaders = ['content-type', 'application/json; charset=utf-8'] as const;
const textHeaders = ['content-type', 'text/plain; charset=utf-8'] as const;

export function jsonResponse(
  value: unknown,
  status = 200,
  headers: readonly string[] = [],
): ApiResponse {
  return { status, headers: [...jsonHeaders, ...headers], body: JSON.stringify(value) };
}

export function textResponse(body: string, status = 200): ApiResponse {
  return { status, headers: textHeaders, body };
}

/** The value of a header; of several, all of them in one text, as HTTP reads them. */
export function headerOf(request: ApiRequest, name: string): string | undefined {
  const value = request.headers[name];
  return value === undefined || typeof value === 'string' ? value : value.join(', ');
}
