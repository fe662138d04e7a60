/** Support for tests of commands: an Io that records, and a member that answers by script. */
import { createServer, type Server } from 'node:http';
import { Readable } from 'node:stream';
import type { Io } from '../command.ts';

export interface Recording extends Io {
  readonly outLines: string[];
  readonly errLines: string[];
  abort(): void;
}

/** `color` goes for both streams unless `errColor` says otherwise. */
export function recordingIo(
  env: Record<string, string> = {},
  color = false,
  errColor = color,
  input: readonly string[] = [],
): Recording {
  const controller = new AbortController();
  const outLines: string[] = [];
  const errLines: string[] = [];
  return {
    out: (text) => {
      checkNames(text);
      outLines.push(...text.split('\n'));
    },
    err: (text) => void errLines.push(...text.split('\n')),
    terminal: color,
    color,
    errColor,
    env,
    input: Readable.from(input),
    signal: controller.signal,
    outLines,
    errLines,
    abort: () => controller.abort(new Error('Stopped by the test.')),
  };
}

/** Every line of JSON that a command writes, in any test, names its members as the API does. */
function checkNames(text: string): void {
  if (!text.startsWith('{')) return;
  JSON.parse(text, (name, value: unknown) => {
    if (/^[a-z]+[A-Z]/.test(name)) throw new Error(`${name} is no name of the API: ${text}`);
    return value;
  });
}

export interface Asked {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  /** Instead of a body. */
  readonly text?: string;
}

export interface FakeMember {
  readonly url: string;
  readonly asked: Asked[];
  close(): void;
}

/** The answer with parts that every member gives and that a script may leave out. */
function asMember({ method, path }: Asked, answer: Answer): Answer {
  const { status = 200, headers, body } = answer;
  if (status >= 400) return { ...answer, body: { title: 'No', ...(body as object) } };
  const isDrain = path === '/cluster/drain';
  if (method === 'GET' || isDrain)
    return isDrain ? { body: { draining: true }, ...answer } : answer;
  return { ...answer, headers: { location: path, 'carillon-version': '1.2', ...headers } };
}

/** A real HTTP server on loopback that answers as `script` says. */
export async function fakeMember(script: (asked: Asked) => Answer): Promise<FakeMember> {
  const asked: Asked[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method = '', url = '', headers } = request;
      const what = { method, path: url, headers, body: text === '' ? null : JSON.parse(text) };
      asked.push(what);
      const {
        status = 200,
        headers: sent = {},
        body,
        text: plain = '',
      } = asMember(what, script(what));
      response.writeHead(status, sent).end(body === undefined ? plain : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, asked, close };
}
