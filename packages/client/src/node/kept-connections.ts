/**
 * Exchanges on Node: connections of `node:http` that are kept alive and used again, without the extra cost of
 * `fetch`. Answers are read by Node's own strict parser, heads up to 16 KiB and bodies up to `bodyBytesMax`.
 *
 * K1  A member has at most `connectionCountMax` connections; exchanges beyond wait for one.
 * K2  Unused connections keep no process alive.
 * K3  A kept connection that the other side closes just when it is used again is no failure: the exchange is made
 *     once more, on a fresh connection. An exchange that may be made only once gets a fresh one from the start.
 */
import { Agent, type IncomingMessage, request as askHttp, type RequestOptions } from 'node:http';
import { Agent as TlsAgent, request as askHttps } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import type { AnswerHeaders, Exchange, Incoming, Outgoing } from '../connections/exchange.ts';

const connectionCountMax = 64;
const unusedCountMax = 16;
/** Lists come in pages of about a megabyte, outcomes of the largest batch have about as much. */
const bodyBytesMax = 64 * 1024 * 1024;

const kept = {
  keepAlive: true,
  maxSockets: connectionCountMax,
  maxFreeSockets: unusedCountMax,
  // The one used last: the others grow old and are closed.
  scheduling: 'lifo',
} as const;

export function keptConnections(): Exchange {
  const agents = { http: new Agent(kept), https: new TlsAgent(kept) };
  return async (outgoing) => {
    try {
      return await exchange(outgoing, agents);
    } catch (error) {
      if (error instanceof StaleConnection) return exchange(outgoing, null);
      throw error;
    }
  };
}

interface Agents {
  readonly http: Agent;
  readonly https: TlsAgent;
}

/** `agents` null: on a fresh connection. */
function exchange(outgoing: Outgoing, agents: Agents | null): Promise<Incoming> {
  return new Promise((resolve, reject) => {
    outgoing.signal.throwIfAborted();
    const request = begin(outgoing, agents);
    const abort = (): void => {
      const { reason } = outgoing.signal;
      request.destroy(reason instanceof Error ? reason : new Error(String(reason)));
    };
    const state = { isAnswered: false };
    const failed = (error: unknown): void => {
      outgoing.signal.removeEventListener('abort', abort);
      const isStale = !state.isAnswered && request.reusedSocket && isClosed(error);
      reject(isStale ? new StaleConnection('closed', { cause: error }) : error);
    };
    outgoing.signal.addEventListener('abort', abort, { once: true });
    request.on('error', failed);
    request.on('response', (answer) => {
      state.isAnswered = true;
      readAnswer(answer).then((incoming) => {
        outgoing.signal.removeEventListener('abort', abort);
        resolve(incoming);
      }, failed);
    });
    request.end(outgoing.body);
  });
}

function begin({ method, url, headers, body, repeatable }: Outgoing, agents: Agents | null) {
  const isSecure = url.startsWith('https:');
  const length = body === null ? 0 : Buffer.byteLength(body);
  // Always said: Node would send a body of unknown length in chunks.
  const all =
    body === null && method === 'GET' ? headers : { ...headers, 'content-length': length };
  const agent = agents === null || !repeatable ? false : isSecure ? agents.https : agents.http;
  const ask = isSecure ? askHttps : askHttp;
  const options = { method, headers: all, agent };
  const parts = partsOf(url);
  return parts === null
    ? ask(url, options)
    : ask({ ...parts.origin, path: parts.path, ...options });
}

interface UrlParts {
  readonly origin: RequestOptions;
  readonly path: string;
}

/** Host and port by origin, in Node's form: parsing a URL for each request costs more than building its head. */
const origins = new Map<string, RequestOptions>();
const originCountMax = 1000;
/** Paths that a URL parser leaves as they are. */
const plainPath = /^\/[\w/-]*$/;

/** null: a path that has to be parsed. */
function partsOf(url: string): UrlParts | null {
  const at = url.indexOf('/', url.indexOf('//') + 2);
  const path = at < 0 ? '' : url.slice(at);
  if (!plainPath.test(path)) return null;
  const text = url.slice(0, at);
  let origin = origins.get(text);
  if (origin === undefined) {
    origin = urlToHttpOptions(new URL(text));
    if (origins.size >= originCountMax) origins.clear();
    origins.set(text, origin);
  }
  return { origin, path };
}

/** Of an exchange whose kept connection was gone before there was anything of an answer. */
class StaleConnection extends Error {}

function isClosed(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'ECONNRESET' || code === 'EPIPE';
}

function readAnswer(answer: IncomingMessage): Promise<Incoming> {
  return new Promise((resolve, reject) => {
    const status = answer.statusCode ?? 0;
    const chunks: Buffer[] = [];
    let bytes = 0;
    const refuse = (why: string): void => {
      answer.destroy();
      reject(new Error(why));
    };
    if (status >= 300 && status < 400) return refuse(`a redirect (status ${status})`);
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bodyBytesMax) return refuse(`an answer of more than ${bodyBytesMax} bytes`);
      chunks.push(chunk);
    });
    answer.on('end', () => {
      const text = textOf(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
      resolve({ status, headers: new ReadHeaders(answer), text });
    });
    answer.on('error', reject);
    // Cut off in the middle.
    answer.on('close', () => reject(new Error('the answer was cut off')));
  });
}

const byteOrderMark = 0xfeff;

/**
 * As `fetch` decodes a text: without a byte order mark at its beginning. A TextDecoder takes twenty times as long for a
 * short one.
 */
function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text;
}

class ReadHeaders implements AnswerHeaders {
  private readonly answer: IncomingMessage;

  constructor(answer: IncomingMessage) {
    this.answer = answer;
  }

  get(name: string): string | null {
    const value = this.answer.headers[name];
    return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value;
  }

  *[Symbol.iterator](): Iterator<[string, string]> {
    const { rawHeaders } = this.answer;
    for (let i = 0; i + 1 < rawHeaders.length; i += 2)
      yield [rawHeaders[i] as string, rawHeaders[i + 1] as string];
  }
}
