/**
 * Requests of clients: bodies, targets, headers, tokens, and bytes on a connection. Everything goes through the
 * router of a member; timers go to a fake service instead of a store. No answer may be 5xx, no header of an answer
 * may carry unprintable bytes.
 */
import fc from 'fast-check';
import { tokenDigest } from '../../../packages/server/src/access/token.ts';
import * as hostile from '../../../packages/server/src/http/hostile.contract.ts';
import { HttpParser } from '../../../packages/server/src/http/parser.ts';
import { attacks } from '../../../packages/server/src/http/smuggling.contract.ts';
import type { ApiRequest, ApiResponse } from '../../../packages/server/src/http/message.ts';
import { testApi } from '../../../packages/server/src/api/stand-in.contract.ts';
import { defaultConfig } from '../../../packages/server/src/config/config.ts';
import { testToken } from '../../../packages/server/src/testing/tokens.ts';
import { Mutator } from './mutate.ts';
import { bytesOf, hold, type Surface, type Tally, textOf, type Verdict } from './surface.ts';

const id = '00000019000000010000000100000002-2';
const noBody = new Uint8Array();
const jsonWords = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '\\',
  '\\u0000',
  '\\ud800',
  'null',
  'true',
  '1e999',
  '-0',
  '"timing"',
  '"interval"',
  '"cron"',
  '"at"',
  '"callback"',
  '"__proto__"',
  '"replicas"',
  '"forever"',
];

/** Many of something at once; the same for the same seed. */
function sample<T>(arbitrary: fc.Arbitrary<T>, seed: number, numRuns = 1500): T[] {
  return fc.sample(arbitrary, { seed, numRuns });
}

/** Asks the router, and forgets the calls of the fake service, so that it does not grow. */
class Asked {
  readonly api = testApi();
  private readonly tally: Tally;

  constructor(tally: Tally) {
    this.tally = tally;
  }

  ask(request: ApiRequest): Verdict | Promise<Verdict> {
    const response = this.api.router.handle(request);
    return response instanceof Promise
      ? response.then((later) => this.judge(later))
      : this.judge(response);
  }

  judge(response: ApiResponse): Verdict {
    const { bugs, service } = this.api;
    service.sets.length = 0;
    service.calls.length = 0;
    const [bug] = bugs.splice(0);
    if (bug !== undefined) throw bug;
    const { status, headers: sent } = response;
    if (status >= 500) this.tally.serverErrors++;
    hold(status >= 200 && status < 500, `The answer is ${status}.`);
    for (const text of sent) hold(/^[\t\x20-\x7e]*$/.test(text), `A header is ${text}.`);
    return status < 400 ? 'taken' : 'refused';
  }
}

export function httpSurfaces(seed: number, tally: Tally): Surface[] {
  return [
    bodies(seed, tally),
    batches(seed, tally),
    targets(seed, tally),
    headers(seed, tally),
    tokens(tally),
    rawBytes(seed, tally),
  ];
}

const receiver = { http: { uri: 'http://receiver.example/x?y=1', opaque: 'ding' } };
const rightTimers = [
  { timing: { interval: 30, 'repeat-for': 300 }, callback: receiver },
  {
    timing: { at: '2026-06-01T00:00:00Z' },
    callback: { ...receiver, retry: { limit: 60 } },
    tags: ['a'],
  },
  { timing: { cron: '*/5 * * * *', timezone: 'Europe/Berlin', count: 7 }, callback: receiver },
  {
    timing: { interval: 1, forever: true },
    callback: receiver,
    reliability: { 'replication-factor': 3 },
  },
].map(json);

function bodies(seed: number, tally: Tally): Surface {
  const asked = new Asked(tally);
  const nearly = [...sample(hostile.body, seed), ...sample(hostile.timer, seed).map(json)];
  const corpus = nearly.flatMap((body, i) => [
    body,
    rightTimers[i % rightTimers.length] as Uint8Array,
  ]);
  const mutator = new Mutator({ corpus, words: jsonWords });
  return {
    name: 'http-bodies',
    share: 16,
    make: (random) => mutator.make(random),
    put: (body) => {
      const even = body.length % 2 === 0;
      const path = even ? '/timers' : `/timers/${id}`;
      return asked.ask({ method: even ? 'POST' : 'PUT', path, query: '', headers: {}, body });
    },
  };
}

function batches(seed: number, tally: Tally): Surface {
  const asked = new Asked(tally);
  const items = sample(hostile.timer, seed, 600).map((timer) => JSON.stringify(timer));
  const arrays = items.map((item, i) => `[${item},${items[(i + 1) % items.length]}]`);
  const lines = items.map((item, i) => `${item}\n${items[(i + 1) % items.length]}\n`);
  const alike = items.map((item) => `[${item},${item},${item}]`);
  const corpus = [...arrays, ...alike, ...lines].map(bytesOf);
  const mutator = new Mutator({ corpus, words: [...jsonWords, '\n', '\r\n'] });
  return {
    name: 'http-batches',
    share: 4,
    make: (random) => mutator.make(random),
    put: (body) => {
      const type = body[0] === 0x5b ? 'application/json' : 'application/x-ndjson';
      const about = { method: 'POST', path: '/timers/batch', query: '' };
      return asked.ask({ ...about, headers: { 'content-type': type }, body });
    },
  };
}

function json(value: unknown): Uint8Array {
  return bytesOf(JSON.stringify(value) ?? 'null');
}

/** As a request line has them: a method, a path, a query. */
function targets(seed: number, tally: Tally): Surface {
  const asked = new Asked(tally);
  const parts = fc.tuple(hostile.method, hostile.path, hostile.query);
  const asks = [
    `GET /timers/${id}?`,
    'GET /timers?tag=a&limit=5',
    'GET /cluster?',
    `DELETE /timers/${id}?`,
  ];
  const corpus = sample(parts, seed).flatMap(([method, path, query], i) => [
    bytesOf(`${method} ${path}?${query}`),
    bytesOf(asks[i % asks.length] as string),
  ]);
  const words = ['/', '?', '&', '=', '%', '%00', '%2f', '..', ';', 'tag=', 'cursor=', 'limit=', id];
  const mutator = new Mutator({ corpus, words });
  return {
    name: 'http-paths',
    share: 12,
    make: (random) => mutator.make(random),
    put: (input) => {
      const [, method = '', path = '', query = ''] =
        /^(\S*) ([^?]*)\??(.*)$/s.exec(textOf(input)) ?? [];
      return asked.ask({ method, path, query, headers: {}, body: noBody });
    },
  };
}

function headers(seed: number, tally: Tally): Surface {
  const asked = new Asked(tally);
  const corpus = sample(hostile.headers, seed).map((lines) =>
    bytesOf(
      Object.entries(lines)
        .map((line) => line.join(':'))
        .join('\n'),
    ),
  );
  const words = [
    'accept:',
    'idempotency-key:',
    'content-type:',
    'carillon-namespace:',
    '\n',
    ';q=',
    '"',
  ];
  const mutator = new Mutator({ corpus, words });
  const body = bytesOf('{"timing":{"interval":1},"callback":{"http":{"uri":"http://r/"}}}');
  return {
    name: 'http-headers',
    share: 8,
    make: (random) => mutator.make(random),
    put: (input) => {
      const lines = textOf(input)
        .split('\n')
        .map((line) => line.split(':'));
      const given = Object.fromEntries(lines.map(([name = '', ...rest]) => [name, rest.join(':')]));
      return asked.ask({ method: 'POST', path: '/timers', query: '', headers: given, body });
    },
  };
}

/** Texts that pretend to be a token: only the one existing token is let in. */
function tokens(tally: Tally): Surface {
  const asked = new Asked(tally);
  const { token, text } = testToken(1);
  asked.api.access.use([token]);
  const other = testToken(2).text;
  const corpus = [`Bearer ${text}`, `Bearer ${other}`, `Basic ${text}`, text, `bearer  ${text}`];
  const mutator = new Mutator({
    corpus: corpus.map(bytesOf),
    words: ['Bearer ', 'carillon_', '_', ' ', '\t', '0', other, tokenDigest(text)],
  });
  return {
    name: 'http-tokens',
    share: 4,
    make: (random) => mutator.make(random),
    put: async (input) => {
      const authorization = textOf(input);
      const headersGiven = { authorization };
      const about = { method: 'GET', path: '/timers', query: '' };
      const verdict = await asked.ask({ ...about, headers: headersGiven, body: noBody });
      const right = /^bearer[ \t]+(\S+)$/i.exec(authorization)?.[1] === text;
      if (verdict === 'taken' && !right) tally.strangersLetIn++;
      hold(verdict !== 'taken' || right, `${authorization} is let in.`);
      return verdict;
    },
  };
}

const wellSaid = [
  'GET /timers?limit=5 HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\n\r\nGET /cluster HTTP/1.1\r\nhost: localhost\r\n\r\n',
  'POST /timers HTTP/1.1\r\nhost: localhost\r\ncontent-length: 65\r\n\r\n{"timing":{"interval":1},"callback":{"http":{"uri":"http://r/"}}}',
  'POST /timers HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n5;a=b\r\n{"x":\r\n2\r\n1}\r\n0\r\na: b\r\n\r\n',
];

/** Bytes through the parser of connections, and the parsed requests through the router. */
function rawBytes(seed: number, tally: Tally): Surface {
  const asked = new Asked(tally);
  const asks = Array.from({ length: 300 }, (_, i) =>
    Buffer.from(wellSaid[i % wellSaid.length] ?? ''),
  );
  const corpus = [
    ...asks,
    ...sample(hostile.raw, seed),
    ...attacks.map(({ text }) => Buffer.from(text, 'latin1')),
  ];
  const words = [
    '\r\n',
    '\n',
    '\r',
    '\r\n\r\n',
    ':',
    ' ',
    '\t',
    '\0',
    'HTTP/1.1',
    'host: localhost\r\n',
    '0\r\n\r\n',
    'content-length: 5\r\n',
    'transfer-encoding: chunked\r\n',
    'ffffffff\r\n',
    'expect: 100-continue\r\n',
  ];
  const mutator = new Mutator({ corpus, words });
  return {
    name: 'http-bytes',
    share: 16,
    make: (random) => mutator.make(random),
    put: async (input) => {
      const bytes = Buffer.from(input);
      const whole = new Reading([bytes]);
      const cut = new Reading(cutUp(bytes));
      hold(whole.trace === cut.trace, `Cut up it reads ${cut.trace}, whole ${whole.trace}.`);
      let verdict: Verdict = 'refused';
      for (const request of whole.requests) {
        if ((await asked.ask(request)) === 'taken') verdict = 'taken';
      }
      return verdict;
    },
  };
}

/** Pieces whose lengths follow from the bytes. */
function cutUp(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const to = at + 1 + ((bytes[at] as number) % 23);
    pieces.push(bytes.subarray(at, to));
    at = to;
  }
  return pieces;
}

/** Everything a parser says about a connection. */
class Reading {
  readonly requests: ApiRequest[] = [];
  trace = '';
  private readonly parser = new HttpParser(defaultConfig.limits);
  private body = '';
  private stepsLeft: number;

  constructor(pieces: readonly Buffer[]) {
    // A step that takes nothing and says nothing would go on for ever.
    this.stepsLeft = 10 + 4 * pieces.reduce((sum, { length }) => sum + length + 1, 0);
    for (const piece of pieces) {
      this.parser.push(piece);
      if (!this.read()) return;
    }
  }

  /** False: nothing more can come. */
  private read(): boolean {
    for (;;) {
      hold(this.stepsLeft-- > 0, 'The parser takes more steps than there are bytes.');
      const step = this.parser.next();
      if (step === 'more') return true;
      if (step === 'head') this.head();
      else if (step === 'piece') this.body += this.parser.piece.toString('latin1');
      else if (step === 'end') this.end();
      else {
        this.trace += ` refused: ${this.parser.refused.response.body}`;
        return false;
      }
    }
  }

  private head(): void {
    const { method, path, query, headers: given } = this.parser.head;
    this.parser.bodyBytesMax = defaultConfig.limits.bodyBytesMax;
    this.requests.push({ method, path, query, headers: given, body: noBody });
    this.trace += ` ${method} ${path}?${query} ${JSON.stringify(given)}`;
  }

  private end(): void {
    const last = this.requests.pop();
    if (last !== undefined) this.requests.push({ ...last, body: Buffer.from(this.body, 'latin1') });
    this.trace += ` ${this.body} end`;
    this.body = '';
  }
}
