/** Requests of all kinds, each with a mark of its own, and whether an answer is the one to a request. */
import { Agent, type IncomingMessage, request } from 'node:http';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Without a length. */
  readonly chunked?: boolean;
}

export interface Answer {
  readonly status: number;
  /** A member sends back the one that it was sent; proxies that answer themselves send none. */
  readonly mark: string | undefined;
  readonly location: string | undefined;
  readonly body: string;
}

export interface Kind {
  readonly ask: (mark: string, round: number) => Asked;
  readonly right: (answer: Answer, round: number) => boolean;
  /** Opaques of the timers that the request sets. */
  readonly sets?: (mark: string) => readonly string[];
  /** The member answers before it was sent the whole request, and some proxies then answer themselves. */
  readonly early?: true;
}

export const seedCount = 20;
const batchCount = 20;
const json = { 'content-type': 'application/json' };

export function timerOf(opaque: string, tag: string): string {
  const http = { uri: 'http://127.0.0.1:9/', opaque };
  return JSON.stringify({ timing: { interval: 3600 }, callback: { http }, tags: [tag] });
}

function set(opaque: (mark: string) => string, more: Partial<Asked> = {}): Kind {
  return {
    ask: (mark) => ({
      method: 'POST',
      path: '/timers',
      headers: json,
      body: timerOf(opaque(mark), 'load'),
      ...more,
    }),
    right: ({ status, location }) => status === 200 && location?.startsWith('/timers/') === true,
    sets: (mark) => [opaque(mark)],
  };
}

function refused(status: number, asked: Asked, early = false): Kind {
  return {
    ask: () => asked,
    right: (answer) => answer.status === status,
    ...(early && { early }),
  };
}

const seedAt = (round: number): string => `seed-${round % seedCount}`;
const inBatch = (mark: string): string[] =>
  Array.from({ length: batchCount }, (_, i) => `${mark}.${i}`);

export const kinds: Readonly<Record<string, Kind>> = {
  set: set((mark) => mark),
  'set in chunks': set((mark) => mark, { chunked: true }),
  'set that waits for 100': set((mark) => mark, { headers: { ...json, expect: '100-continue' } }),
  'large set': set((mark) => mark.padEnd(60_000, '.')),
  batch: {
    ask: (mark) => ({
      method: 'POST',
      path: '/timers/batch',
      headers: json,
      body: `[${inBatch(mark)
        .map((opaque) => timerOf(opaque, 'load'))
        .join()}]`,
    }),
    right: ({ status, body }) => status === 200 && body.split('"id"').length === batchCount + 1,
    sets: inBatch,
  },
  read: {
    ask: (_, round) => ({ method: 'GET', path: `/timers?tag=${seedAt(round)}` }),
    right: ({ body }, round) => body.includes(`"opaque":"${seedAt(round)}"`),
  },
  HEAD: {
    ask: (_, round) => ({ method: 'HEAD', path: `/timers?tag=${seedAt(round)}` }),
    right: ({ status, body }) => status === 200 && body === '',
  },
  health: refused(200, { method: 'GET', path: '/healthz' }),
  'unknown path': refused(404, { method: 'GET', path: '/nothing' }),
  'body to an unknown path': refused(404, { method: 'POST', path: '/nothing', body: 'x' }),
  'unknown method': refused(405, { method: 'PATCH', path: '/timers', body: '{}' }),
  'broken body': refused(400, { method: 'POST', path: '/timers', headers: json, body: '{"a":' }),
  'compressed body': refused(415, {
    method: 'POST',
    path: '/timers',
    body: 'x',
    headers: { 'content-encoding': 'gzip' },
  }),
  'large body': refused(
    413,
    { method: 'POST', path: '/timers', headers: json, body: 'x'.repeat(300_000) },
    true,
  ),
};

export function ask(to: { port: number; agent: Agent }, mark: string, one: Asked): Promise<Answer> {
  const { method, path, body, chunked } = one;
  const length = body === undefined || chunked === true ? {} : { 'content-length': body.length };
  const headers = { ...one.headers, ...length, 'x-request-id': mark };
  return new Promise((resolve, reject) => {
    const asked = request({ ...to, host: '127.0.0.1', method, path, headers }, (message) => {
      answerOf(message).then(resolve, reject);
    });
    asked.on('error', (error: NodeJS.ErrnoException) => {
      // The proxy closed the kept connection as the request left: clients make it again on a new one.
      const isClosed = asked.reusedSocket && error.code === 'ECONNRESET';
      if (isClosed) resolve(ask({ port: to.port, agent: new Agent() }, mark, one));
      else reject(error);
    });
    if (one.headers?.['expect'] !== undefined) {
      asked.on('continue', () => asked.end(body));
      asked.flushHeaders();
    } else if (body !== undefined && chunked === true) {
      asked.write(body.slice(0, 40));
      asked.end(body.slice(40));
    } else asked.end(body);
  });
}

async function answerOf(message: IncomingMessage): Promise<Answer> {
  const pieces = (await message.toArray()) as Buffer[];
  const { 'x-request-id': mark, location } = message.headers;
  return {
    status: message.statusCode ?? 0,
    mark: mark as string | undefined,
    location,
    body: Buffer.concat(pieces).toString(),
  };
}
