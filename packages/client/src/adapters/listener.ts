/**
 * `@carillon/client/node`: a receiver behind `node:http`, and behind everything that hands on its requests and answers.
 * Typed by shape, so that neither this package nor its users need the types of Node for it.
 */

/** The function that `receiver` returns. */
export type Receive = (request: Request) => Promise<Response>;

/** The parts of `IncomingMessage` that are read. */
export interface IncomingRequest extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
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
  return (request, response) => {
    answer(receive, request, response).catch((error: unknown) => {
      // The caller went away before it had sent everything.
      response.destroy(error instanceof Error ? error : undefined);
    });
  };
}

async function answer(
  receive: Receive,
  request: IncomingRequest,
  response: OutgoingResponse,
): Promise<void> {
  const { status, headers, body } = await plainAnswer(receive, {
    method: request.method ?? 'POST',
    path: request.url ?? '/',
    headers: request.headers,
    body: hasBody(request.method) ? streamOf(request) : null,
  });
  response.statusCode = status;
  for (const [name, value] of headers) response.setHeader(name, value);
  response.end(body);
}

/** A request as frameworks on Node give it, with its body as it came: signatures are over its bytes. */
export interface PlainRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingRequest['headers'];
  readonly body: Uint8Array | ReadableStream<Uint8Array> | null;
}

export interface PlainAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** Runs a receiver on a request that is no `Request`. */
export async function plainAnswer(receive: Receive, request: PlainRequest): Promise<PlainAnswer> {
  const response = await receive(requestOf(request));
  return { status: response.status, headers: [...response.headers], body: await response.text() };
}

function requestOf({ method, path, headers: given, body }: PlainRequest): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  // `duplex` must be said for a body that is a stream; not all type declarations know it.
  const init: RequestInit & { duplex: 'half' } = {
    method,
    headers,
    // Declarations differ in which buffers a view may have; every one can be sent.
    body: body as BodyInit | null,
    duplex: 'half',
  };
  return new Request(new URL(path, 'http://receiver'), init);
}

function hasBody(method: string | undefined): boolean {
  return method !== 'GET' && method !== 'HEAD';
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
