/**
 * Requests and answers as plain data: the listener turns sockets into these, tests and the simulator make them by hand.
 */
import type { Outflow } from './outflow.ts';

export interface ApiRequest {
  readonly method: string;
  /** Without the query; starts with a slash. */
  readonly path: string;
  /** The part behind the question mark; empty without one. */
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
  /** Whole. Where there is a `stream`, the listener does not ask for it. */
  readonly body: string;
  /** Writes the body instead, at once or over time. A content-length, if any, is among the headers then. */
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

/** The same answer with more headers. */
export function withHeaders(response: ApiResponse, more: readonly string[]): ApiResponse {
  // Not a copy: that would ask for the body, which is put together then.
  const headers = { value: [...response.headers, ...more], enumerable: true };
  return Object.create(response, { headers }) as ApiResponse;
}

/** Written at once where the client keeps up; about as much is put together before it is asked whether it does. */
const pieceLength = 16 * 1024;

/**
 * A page of a list as JSON: the items under `name`, then `rest`. Written piece by piece as the client takes it, so
 * that for a slow client only the items are kept, not the text of all of them.
 */
export function pageResponse<T>(
  name: string,
  items: readonly T[],
  render: (item: T) => unknown,
  rest: object,
): ApiResponse {
  const texts = (): Generator<string> => pageTexts(name, items, render, rest);
  return {
    status: 200,
    headers: jsonHeaders,
    get body() {
      return [...texts()].join('');
    },
    stream: (out) => {
      const left = texts();
      const more = (): void => {
        while (!out.full) {
          const { done, value } = left.next();
          if (done === true) return out.end();
          out.write(value);
        }
      };
      out.onTaken(more);
      more();
    },
  };
}

function* pageTexts<T>(
  name: string,
  items: readonly T[],
  render: (item: T) => unknown,
  rest: object,
): Generator<string> {
  let text = `{${JSON.stringify(name)}:[`;
  let comma = '';
  for (const item of items) {
    text += comma + JSON.stringify(render(item));
    comma = ',';
    if (text.length < pieceLength) continue;
    yield text;
    text = '';
  }
  yield `${text}],${JSON.stringify(rest).slice(1)}`;
}

export function textResponse(body: string, status = 200): ApiResponse {
  return { status, headers: textHeaders, body };
}

/** The value of a header; of several, all of them in one text, as HTTP reads them. */
export function headerOf(request: ApiRequest, name: string): string | undefined {
  const value = request.headers[name];
  return value === undefined || typeof value === 'string' ? value : value.join(', ');
}
