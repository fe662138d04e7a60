/**
 * `@carillon/client/fastify`: a plugin, `app.register(toFastify(receive, '/callbacks'))`. Inside the plugin bodies stay
 * as they came, because signatures are over their bytes; routes outside of it are parsed as before.
 */
import { checkReceive } from '../plain.ts';
import { type GivenHeaders, plainAnswer, type Receive, webAnswer } from './listener.ts';

/** Any Fastify instance. Its methods have many forms; which ones are used is in `Used`. */
export interface FastifyScope {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(...given: never[]): unknown;
  post(...given: never[]): unknown;
}

interface Used {
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer' },
    parse: (request: unknown, body: unknown, parsed: (error: null, body: unknown) => void) => void,
  ): unknown;
  post(
    path: string,
    handle: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
  ): unknown;
}

interface FastifyRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: GivenHeaders;
  readonly body?: unknown;
}

interface FastifyReply {
  code(status: number): unknown;
  header(name: string, value: string): unknown;
}

export function toFastify(receive: Receive, path: string): (scope: FastifyScope) => Promise<void> {
  checkReceive(receive, 'toFastify');
  return (scope) => {
    scope.removeAllContentTypeParsers();
    const used = scope as unknown as Used;
    used.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, parsed) => parsed(null, body));
    used.post(path, async (request, reply) => {
      const { method, url, headers: given, body } = request;
      const bytes = body instanceof Uint8Array ? body : null;
      const { plain } = receive;
      const {
        status,
        headers,
        body: text,
      } = plain === undefined
        ? await webAnswer(receive, { method, path: url, headers: given, body: bytes })
        : await plainAnswer(plain, request, bytes ?? new Uint8Array(0));
      reply.code(status);
      for (const name in headers) reply.header(name, headers[name] as string);
      return text;
    });
    return Promise.resolve();
  };
}
