/**
 * `@carillon/client/node`: a receiver behind `node:http`, and behind everything that hands on its requests and answers.
 * Typed by shape, so that neither this package nor its users need the types of Node for it.
 */
import {
  checkReceive,
  piecesOf,
  type Plain,
  type PlainAnswer,
  type PlainCall,
  type Receive,
} from '../plain.ts';

export type { Receive } from '../plain.ts';

/** Headers as Node gives them: names in lower case. */
export type GivenHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The parts of `IncomingMessage` that are read. */
export interface IncomingRequest extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: GivenHeaders;
  /** True: the body was read before. */
  readonly readableEnded?: boolean;
  on?(event: string, listener: (given: Uint8Array) => void): unknown;
}

/** The parts of `ServerResponse` that are written. */
export interface OutgoingResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
  destroy(error?: Error): unknown;
}

/** A listener for `createServer`: `createServer(toListener(receive))`. */
export function toListener(
  receive: Receive,
): (request: IncomingRequest, response: OutgoingResponse) => void {
  checkReceive(receive, 'toListener');
  const { plain } = receive;
  return (request, response) => {
    const answered = (answer: PlainAnswer): void => write(response, answer);
    const gone = (error: unknown): void => {
      // The caller went away before it had sent everything.
      response.destroy(error instanceof Error ? error : undefined);
    };
    if (plain === undefined) webAnswer(receive, unread(request)).then(answered, gone);
    else bodyOf(request, plain, (body) => plainAnswer(plain, request, body).then(answered), gone);
  };
}

/** Gives null instead of a body that is longer than the receiver takes. */
function bodyOf(
  request: IncomingRequest,
  { bodyBytesMax }: Plain,
  done: (body: Uint8Array | null) => Promise<void>,
  gone: (error: unknown) => void,
): void {
  const pieces = piecesOf(bodyBytesMax);
  let isOver = false;
  const over = (body: Uint8Array | null): void => {
    if (isOver) return;
    isOver = true;
    done(body).catch(gone);
  };
  const failed = (error?: unknown): void => {
    if (!isOver) gone(error);
    isOver = true;
  };
  const add = (chunk: Uint8Array): boolean => {
    if (isOver || pieces.add(chunk)) return true;
    over(null);
    return false;
  };
  if (request.on === undefined || request.readableEnded === true) {
    eachOf(request, add).then(() => over(pieces.whole()), failed);
    return;
  }
  // Listeners cost a third of an iteration.
  request.on('data', add);
  request.on('end', () => over(pieces.whole()));
  request.on('error', failed);
  request.on('close', failed);
}

async function eachOf(
  request: AsyncIterable<unknown>,
  add: (chunk: Uint8Array) => boolean,
): Promise<void> {
  for await (const chunk of request) if (!add(chunk as Uint8Array)) return;
}

/**
 * `body` null: too long. Then the connection goes too: the rest of the body would be in the way of the next request.
 */
export async function plainAnswer(
  plain: Plain,
  { headers: given }: { readonly headers: GivenHeaders },
  body: Uint8Array | null,
): Promise<PlainAnswer> {
  if (body === null || body.length > plain.bodyBytesMax) {
    const refusal = await plain.answer({ body: null });
    return { ...refusal, headers: { ...refusal.headers, connection: 'close' } };
  }
  const header = (name: string): string | null => {
    const value = given[name];
    return typeof value === 'string' ? value : value === undefined ? null : value.join(', ');
  };
  const call: PlainCall = { header, headers: () => headersOf(given), body };
  return plain.answer(call);
}

export function write(response: OutgoingResponse, { status, headers, body }: PlainAnswer): void {
  response.statusCode = status;
  for (const name in headers) response.setHeader(name, headers[name] as string);
  response.end(body);
}

/** A request as frameworks on Node give it, with its body as it came: signatures are over its bytes. */
export interface PlainRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: GivenHeaders;
  readonly body: Uint8Array | ReadableStream<Uint8Array> | null;
}

/** Runs a function of the web on a request that is no `Request`. */
export async function webAnswer(receive: Receive, request: PlainRequest): Promise<PlainAnswer> {
  const response = await receive(requestOf(request));
  const headers = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: await response.text() };
}

function unread(request: IncomingRequest): PlainRequest {
  const { method = 'POST', url = '/', headers } = request;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return { method, path: url, headers, body: hasBody ? streamOf(request) : null };
}

function requestOf({ method, path, headers, body }: PlainRequest): Request {
  // `duplex` must be said for a body that is a stream; not all type declarations know it.
  const init: RequestInit & { duplex: 'half' } = {
    method,
    headers: headersOf(headers),
    // Declarations differ in which buffers a view may have; every one can be sent.
    body: body as BodyInit | null,
    duplex: 'half',
  };
  return new Request(new URL(path, 'http://receiver'), init);
}

function headersOf(given: GivenHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  return headers;
}

/** Read as far as the receiver reads: it has a limit. */
function streamOf(request: AsyncIterable<unknown>): ReadableStream<Uint8Array> {
  const chunks = request[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done = false, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array);
    },
    async cancel() {
      await chunks.return?.();
    },
  });
}
