import { once } from 'node:events';
import { createServer } from 'node:http';
import { duplexPair } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HttpParser, type ParserLimits } from './parser.ts';
import { attacks } from './smuggling.contract.ts';

interface Read {
  readonly method: string;
  readonly target: string;
  readonly headers: Record<string, string | undefined>;
  readonly body: string;
}

interface Outcome {
  readonly requests: Read[];
  readonly status: number | null;
  /** The text of the refusal; null: the bytes are right so far. */
  readonly words: string | null;
  /** Whether part of a further request was read. */
  readonly begun: boolean;
}

const limits: ParserLimits = { requestHeaderBytesMax: 16 * 1024, requestHeaderCountMax: 100 };
const bodyBytesMax = 1 << 20;

/** Everything the parser makes of the bytes, in the pieces given. */
function read(pieces: readonly Buffer[], given = limits): Outcome {
  const parser = new HttpParser(given);
  const requests: Read[] = [];
  let body: Buffer[] = [];
  let current: Omit<Read, 'body'> | null = null;
  for (const piece of pieces) {
    // A copy, because sockets do not keep theirs either.
    parser.push(Buffer.from(piece));
    for (let step = parser.next(); step !== 'more'; step = parser.next()) {
      if (step === 'refused') {
        const { status, body: words } = parser.refused.response;
        return { requests, status, words, begun: false };
      }
      if (step === 'head') {
        const { method, path, query, headers } = parser.head;
        const target = query === '' ? path : `${path}?${query}`;
        current = { method, target, headers: { ...headers } };
        parser.bodyBytesMax = bodyBytesMax;
        body = [];
      } else if (step === 'piece') body.push(parser.piece);
      else if (current !== null)
        requests.push({ ...current, body: Buffer.concat(body).toString('latin1') });
    }
  }
  return { requests, status: null, words: null, begun: parser.begun };
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
const readText = (text: string, given = limits): Outcome => read([bytesOf(text)], given);

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...places.map((p) => p % (bytes.length + 1)), bytes.length].toSorted(
    (a, b) => a - b,
  );
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
}

const get = 'GET /ping HTTP/1.1\r\nhost: x\r\n\r\n';

describe('accepted requests', () => {
  test('a request with everything in it', () => {
    const text =
      'PUT /timers/1?a=b HTTP/1.1\r\nHost: x.example:80\r\nX-Two:  a \r\nACCEPT:\t*/*\r\nx-two: b\r\nEmpty:\r\ncontent-length: 5\r\n\r\nhello';
    expect(readText(text + get).requests).toEqual([
      {
        method: 'PUT',
        target: '/timers/1?a=b',
        headers: {
          host: 'x.example:80',
          'x-two': 'a, b',
          accept: '*/*',
          empty: '',
          'content-length': '5',
        },
        body: 'hello',
      },
      { method: 'GET', target: '/ping', headers: { host: 'x' }, body: '' },
    ]);
  });

  test.each([
    ['one empty line before each', `\r\n${get}\r\n${get}`, 2],
    ['HTTP/1.0 without a host', 'GET /ping HTTP/1.0\r\n\r\n', 1],
    ['an empty host', 'GET /ping HTTP/1.1\r\nhost:\r\n\r\n', 1],
    ['the whole member', 'OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n', 1],
    ['a target as for a proxy', 'GET http://x:80/ping HTTP/1.1\r\nhost: x\r\n\r\n', 1],
    ['bytes beyond ASCII in a value', 'GET /ping HTTP/1.1\r\nhost: x\r\nx: \xe4\r\n\r\n', 1],
    ['what browsers leave as it is', 'GET /a{b}|c^?"<`> HTTP/1.1\r\nhost: x\r\n\r\n', 1],
    [
      'zeros before a length',
      `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 003\r\n\r\nabc${get}`,
      2,
    ],
    [
      'chunked in another case',
      `POST / HTTP/1.1\r\nhost: x\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n${get}`,
      2,
    ],
  ])('%s', (_, text, count) => {
    const { requests, status, begun } = readText(text);
    expect([requests.length, status, begun]).toEqual([count, null, false]);
  });

  test.each([
    ['http://x', '/'],
    ['http://x?a', '/?a'],
    ['HTTPS://x.example/ping?a', '/ping?a'],
    ['http://[::1]:7253/ping', '/ping'],
    ['/?', '/'],
    ['//x/ping', '//x/ping'],
    ['/a?b?c', '/a?b?c'],
  ])('the target %s is %s', (given, target) => {
    const { requests } = readText(`GET ${given} HTTP/1.1\r\nhost: x\r\n\r\n`);
    expect(requests[0]?.target).toBe(target);
  });

  test.each([
    ['http://evil.example/ping', 'HTTP/1.1\r\nhost: 127.0.0.1', 'evil.example'],
    ['http://evil.example:80/ping', 'HTTP/1.1\r\nhost:', 'evil.example:80'],
    ['HTTPS://[::1]:7253?a', 'HTTP/1.1\r\nhost: x', '[::1]:7253'],
    ['http://evil.example/ping', 'HTTP/1.0', 'evil.example'],
    ['/http://evil.example/', 'HTTP/1.1\r\nhost: x', 'x'],
    ['/?http://evil.example/', 'HTTP/1.1\r\nhost: x', 'x'],
  ])('%s, then %j: asks for the host %s', (target, rest, host) => {
    const { requests } = readText(`GET ${target} ${rest}\r\n\r\n${get}`);
    expect(requests.map(({ headers }) => headers['host'])).toEqual([host, 'x']);
  });

  test.each([
    ['no Host', 'GET http://x/ping HTTP/1.1\r\n\r\n'],
    ['a malformed Host', 'GET http://x/ping HTTP/1.1\r\nhost: a b\r\n\r\n'],
    ['two of them', 'GET http://x/ping HTTP/1.1\r\nhost: x\r\nhost: x\r\n\r\n'],
  ])('a target with a host makes up for nothing: %s', (_, text) => {
    expect(readText(text)).toMatchObject({ requests: [], status: 400 });
  });

  test('a body in chunks, with extensions and trailers that mean nothing', () => {
    const head = 'POST /timers HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
    const body = '5\r\nhello\r\n0001;a=b;c="d e"\r\n \r\nA\r\n0123456789\r\n';
    const { requests } = readText(`${head}${body}0\r\nz: y\r\nx:\r\n\r\n${get}`);
    expect(requests.map((request) => request.body)).toEqual(['hello 0123456789', '']);
    expect(requests[0]?.headers).not.toHaveProperty('z');
  });

  test.each([
    'content-length: 0',
    'Transfer-Encoding: chunked',
    'connection: close',
    'proxy-connection: close',
    'keep-alive: timeout=1',
    'upgrade: h2c',
    'host: y',
    'te: trailers',
    'trailer: z',
    'expect: 100-continue',
    'authorization: Bearer x',
  ])('the trailer %s is refused: it means something before the body alone', (trailer) => {
    const head = 'POST /timers HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
    const text = `${head}1\r\nx\r\n0\r\nz: y\r\n${trailer}\r\n\r\n`;
    expect(readText(text)).toMatchObject({ requests: [], status: 400 });
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'a header named %s is a header',
    (name) => {
      const parser = new HttpParser(limits);
      parser.push(bytesOf(`GET / HTTP/1.1\r\nhost: x\r\n${name}: y\r\n\r\n`));
      expect(parser.next()).toBe('head');
      const { headers } = parser.head;
      expect(headers[name.toLowerCase()]).toBe('y');
      expect(headers['valueOf']).toBeUndefined();
    },
  );

  test.each([
    ['keep-alive', 1, false],
    ['close', 1, true],
    ['Keep-Alive, Close', 1, true],
    ['closed', 1, false],
    ['not-close', 1, false],
    ['keep-alive', 0, true],
  ])('connection: %s in HTTP/1.%d: last %s', (value, minor, last) => {
    const parser = new HttpParser(limits);
    parser.push(bytesOf(`GET / HTTP/1.${minor}\r\nhost: x\r\nconnection: ${value}\r\n\r\n`));
    expect([parser.next(), parser.head.last]).toEqual(['head', last]);
  });
});

describe('limits', () => {
  const small = { requestHeaderBytesMax: 64, requestHeaderCountMax: 2 };
  const head = (bytes: number): string =>
    `GET /ping HTTP/1.1\r\nhost: x\r\n\r\n`.replace(
      '/ping',
      '/'.padEnd(bytes - get.length + 5, 'y'),
    );

  test('a head as long as is allowed, and one byte more', () => {
    expect(head(64)).toHaveLength(64);
    expect(readText(head(64), small).requests).toHaveLength(1);
    expect(readText(head(65), small).status).toBe(431);
  });

  test('the line is to blame when it alone is too long', () => {
    expect(readText(head(200), small).status).toBe(414);
    expect(readText('x'.repeat(64), small).status).toBe(414);
    expect(readText('x'.repeat(63), small)).toMatchObject({ status: null, begun: true });
  });

  test('headers as many as are allowed, and one more', () => {
    const two = 'GET / HTTP/1.1\r\nhost: x\r\na: b\r\n';
    expect(readText(`${two}\r\n`, small).requests).toHaveLength(1);
    expect(readText(`${two}c: d\r\n\r\n`, small).status).toBe(431);
  });

  test('chunks up to the limit of the body, and one byte more', () => {
    const start = 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
    const half = `${(bodyBytesMax / 2).toString(16)}\r\n${'x'.repeat(bodyBytesMax / 2)}\r\n`;
    expect(readText(`${start}${half}${half}0\r\n\r\n`).requests).toHaveLength(1);
    expect(readText(`${start}${half}${half}1\r\n`).status).toBe(413);
  });

  test('bytes that no head can begin with are refused before their line ends', () => {
    expect(
      ['\0', '\x16\x03', ' ', '\n', 'GET\0', 'GET \n', 'G\rx'].map((t) => readText(t).status),
    ).toEqual(Array.from({ length: 7 }, () => 400));
    expect(['G', 'GET /', '\r', '\r\n', 'GET / HTTP/1.1\r'].map((t) => readText(t).status)).toEqual(
      Array.from({ length: 5 }, () => null),
    );
  });
});

describe('the same bytes mean the same, wherever they are cut', () => {
  test.each(attacks)('$name, at every place and byte by byte', ({ text, status }) => {
    const bytes = bytesOf(text);
    const whole = read([bytes]);
    // The parser accepts some of these attacks; the connection refuses them, because it knows methods and expectations.
    if (![405, 415, 417].includes(status) && !text.includes('999'))
      expect(whole.status).toBe(status);
    const single = Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
    expect(read(single)).toEqual(whole);
    const step = Math.ceil(bytes.length / 400);
    const places = single.map((_, i) => i).filter((i) => i % step === 0);
    const differing = places.filter((i) => {
      const outcome = read([bytes.subarray(0, i), bytes.subarray(i)]);
      return JSON.stringify(outcome) !== JSON.stringify(whole);
    });
    expect(differing).toEqual([]);
  });

  test('random requests, right and wrong, in random pieces', () => {
    const piece = fc.oneof(
      fc.constantFrom(...attacks.map(({ text }) => text)),
      fc.constantFrom(get, '\r\n', '\r', '\n', '0\r\n\r\n', '5\r\nhello\r\n', 'hello'),
      fc.string({ unit: 'binary', maxLength: 20 }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 3, arbitrary: valid().map(textOf) }, piece), { maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 20 }),
        (texts, places) => {
          const bytes = Buffer.from(texts.join(''), 'latin1');
          expect(read(cut(bytes, places))).toEqual(read([bytes]));
        },
      ),
      { numRuns: 400 },
    );
  });
});

interface Made {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  /** Sizes of chunks; null: with a length. */
  readonly chunks: readonly number[] | null;
}

/** Requests that every server should understand in the same way. */
function valid(): fc.Arbitrary<Made> {
  const name = fc.stringMatching(/^x-[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,20}$/);
  const value = fc.stringMatching(/^([!-~]([ -~]{0,30}[!-~])?)?$/);
  return fc.record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'),
    target: fc.stringMatching(/^\/[!-"$-~]{0,40}$/),
    headers: fc.array(fc.tuple(name, value), { maxLength: 8 }),
    body: fc.stringMatching(/^[\x20-\xff]{0,200}$/),
    chunks: fc.option(fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 10 })),
  });
}

function textOf({ method, target, headers, body, chunks }: Made): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const head = `${method} ${target} HTTP/1.1\r\nHost: x\r\n${lines}`;
  if (chunks === null) return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  let rest = body;
  let text = `${head}Transfer-Encoding: chunked\r\n\r\n`;
  for (const size of [...chunks, body.length]) {
    const chunk = rest.slice(0, size);
    rest = rest.slice(size);
    if (chunk !== '') text += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
  }
  return `${text}0\r\n\r\n`;
}

/** The same bytes as node:http reads them. */
async function readByPlatform(text: string, count: number): Promise<Read[]> {
  const requests: Promise<Read>[] = [];
  const server = createServer((request, response) => {
    const whole = request.setEncoding('latin1').toArray();
    requests.push(
      whole.then((body) => {
        response.end();
        const headers = joined(request.rawHeaders);
        return {
          method: request.method ?? '',
          target: (request.url ?? '').replace(/^([^?]*)\?$/, '$1'),
          headers,
          body: body.join(''),
        };
      }),
    );
  });
  const [ours, theirs] = duplexPair();
  theirs.resume();
  server.emit('connection', ours);
  theirs.write(bytesOf(text));
  while (requests.length < count) await once(server, 'request');
  const all = await Promise.all(requests);
  theirs.destroy();
  ours.destroy();
  return all;
}

function joined(raw: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] ?? '').toLowerCase();
    headers[name] = name in headers ? `${headers[name]}, ${raw[i + 1]}` : (raw[i + 1] ?? '');
  }
  return headers;
}

test('node:http understands valid requests in the same way', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(valid(), { minLength: 1, maxLength: 4 }), async (made) => {
      const text = made.map(textOf).join('');
      const { requests, status } = readText(text);
      expect(status).toBeNull();
      expect(requests.map(({ body }) => body)).toEqual(made.map(({ body }) => body));
      expect(await readByPlatform(text, made.length)).toEqual(requests);
    }),
    { numRuns: 100 },
  );
});
