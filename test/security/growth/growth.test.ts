/** Every parser of text from outside takes time in proportion to its input, for any repetition in it. */
import { parseDuration, parseTimerId, parseTraceparent } from '@carillon/core';
import { receiver } from '@carillon/client';
import { buildTopology, compileTopology } from '@carillon/placement';
import { parseTokens } from '@carillon/server';
import { describe, expect, test } from 'vitest';
import { readDeclared } from '../../../packages/cli/src/timers/declared.ts';
import { parseYamlText } from '../../../packages/cli/src/yaml-text.ts';
import {
  decodeRange,
  decodeTxn,
  decodeWatch,
} from '../../../packages/ring/src/etcd/etcd-messages.ts';
import { GrpcFrames } from '../../../packages/ring/src/grpc-frames.ts';
import { isNamespace } from '../../../packages/server/src/config/namespace.ts';
import { networkOf } from '../../../packages/server/src/access/remote.ts';
import { tokenIdOf } from '../../../packages/server/src/access/token.ts';
import { parseMembers } from '../../../packages/server/src/cluster/sources/members-file.ts';
import { loadConfig } from '../../../packages/server/src/config/load.ts';
import { HttpParser } from '../../../packages/server/src/http/parser.ts';
import { splitTarget } from '../../../packages/server/src/http/target.ts';
import { parseInstant } from '../../../packages/server/src/api/instant.ts';
import type { ApiRequest } from '../../../packages/server/src/http/message.ts';
import { testApi } from '../../../packages/server/src/api/stand-in.contract.ts';
import { refuseUri } from '../../../packages/server/src/api/uri.ts';
import { defaultConfig } from '../../../packages/server/src/config/config.ts';
import { address } from '../../../packages/server/src/config/options/kinds.ts';
import { parseAddress, parseRange } from '../../../packages/server/src/callback/guard/address.ts';
import { AnswerParser } from '../../../packages/server/src/callback/answers/answer-parser.ts';
import { refuseHeader } from '../../../packages/server/src/callback/callback-request.ts';
import { UriSplitter } from '../../../packages/server/src/callback/uri.ts';
import { parseAllow } from '../../../packages/server/src/callback/guard/guard.ts';
import { parseRetryAfter } from '../../../packages/server/src/callback/answers/retry-after.ts';
import { FrameReader } from '../../../packages/server/src/network/frames.ts';
import {
  decodeAnswers,
  decodeMessages,
} from '../../../packages/server/src/replication/wire/frame.ts';
import { growth, repeated, type Shape } from './growth.ts';

interface Reader {
  readonly name: string;
  /** Texts in front of the repetition. */
  readonly starts: readonly string[];
  /** Texts that are repeated; default: all, each with several ends. */
  readonly units?: readonly string[];
  /** Less time than this says nothing; default: that of the measure. */
  readonly floorMs?: number;
  readonly read: (input: Buffer) => unknown;
}

const units = [
  ...' \t\n\ra01.-/%:;,=?#@*[{"\0\xff'.split(''),
  ...'\r\n %2 a. 1. :: xn-- a\r\n {"a": "a", 1h ../'.split(' '),
  ' a ',
  'x: y\r\n',
];
const ends = ['', '\n', '!\r\n\r\n'];

/** A refusal is as good as an answer, here. */
function text(name: string, starts: readonly string[], read: (text: string) => unknown): Reader {
  return { name, starts, read: (input) => attempt(() => read(input.toString('latin1'))) };
}

function attempt(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}

const okHead = 'HTTP/1.1 200 OK\r\n';
const answerStarts = [
  '',
  'HTTP/1.1 ',
  `${okHead}A:`,
  okHead,
  `${okHead}transfer-encoding: chunked\r\n\r\n`,
  `${okHead}keep-alive: `,
  ...['x-timer-failed', 'x-timer-batch', 'retry-after', 'content-length', 'transfer-encoding'].map(
    (name) => `${okHead}${name}: `,
  ),
];
const requestStarts = [
  '',
  'GET ',
  'GET / HTTP/1.1\r\n',
  'GET / HTTP/1.1\r\nhost:',
  'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n',
  'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n',
];

function readAnswer(pieces: Iterable<Buffer>): void {
  const parser = new AnswerParser('POST');
  for (const piece of pieces) if (parser.push(piece) !== 'more') return;
}

function readRequests(pieces: Iterable<Buffer>): void {
  const parser = new HttpParser(defaultConfig.limits);
  parser.bodyBytesMax = 1 << 20;
  for (const piece of pieces) {
    parser.push(piece);
    for (let step = parser.next(); step !== 'more'; step = parser.next())
      if (step === 'refused') return;
  }
}

/** Pieces so small that a parser which begins anew with each of them is found. */
function* inPieces(input: Buffer): Iterable<Buffer> {
  for (let at = 0; at < input.length; at += 7) yield input.subarray(at, at + 7);
}

const wire: Reader[] = [
  { name: 'answers of receivers', starts: answerStarts, read: (input) => readAnswer([input]) },
  {
    name: 'answers of receivers, in small pieces',
    starts: answerStarts,
    read: (input) => readAnswer(inPieces(input)),
  },
  { name: 'requests', starts: requestStarts, read: (input) => readRequests([input]) },
  {
    name: 'requests, in small pieces',
    starts: requestStarts,
    read: (input) => readRequests(inPieces(input)),
  },
];

const { router } = testApi();
const ask = (request: Partial<ApiRequest>): unknown =>
  router.handle({
    method: 'POST',
    path: '/timers',
    query: '',
    headers: {},
    body: Buffer.alloc(0),
    ...request,
  });
const bodyStarts = [
  '',
  '[',
  '{"timing":{"interval":1},"callback":{"http":{"uri":"',
  '{"timing":{"interval":1},"callback":{"http":{"uri":"http://',
  '{"timing":{"interval":1},"callback":{"http":{"uri":"http://x/","opaque":"',
  '{"timing":{"interval":1},"callback":{"http":{"uri":"http://x/","headers":{"',
  '{"timing":{"interval":1},"callback":{"http":{"uri":"http://x/"}},"tags":["',
  '{"timing":{"cron":"',
  '{"timing":{"at":"2026-01-01T00:00:00.',
];
const bodies: Reader[] = [
  { name: 'bodies of timers', starts: bodyStarts, read: (body) => ask({ body }) },
  { name: 'batches', starts: bodyStarts, read: (body) => ask({ path: '/timers/batch', body }) },
  {
    name: 'batches of items that are alike, or almost',
    starts: ['[{"a":1,"b":"', '[{"a":1},{"b":1},{"c":1},{"d":1},{"a":'],
    units: [
      'x',
      '"},{"a":12,"b":"',
      '"},{"a":12,"b":"c"},{"a":1,"c":"',
      '1},{"a":',
      '1},{"d":1 },{"d":',
    ],
    floorMs: 12,
    read: (body) => ask({ path: '/timers/batch', body }),
  },
  {
    name: 'batches of lines',
    starts: ['', '{"timing":{"interval":1},"callback":{"http":{"uri":"http://x/"}}}\n'],
    units: ['\n', 'a\r\n', 'x: y\r\n', '[', '{"a":', '"', '1\n'],
    // Long ones give way to other work, and each turn of the event loop has its price.
    floorMs: 12,
    read: (body) =>
      ask({ path: '/timers/batch', headers: { 'content-type': 'application/x-ndjson' }, body }),
  },
];

const header = (name: string): Reader =>
  text(`the header ${name}`, ['', 'Bearer ', 'application/', 'a,'], (value) =>
    ask({ headers: { [name]: value } }),
  );
const asked: Reader[] = [
  ...[
    'authorization',
    'content-type',
    'accept',
    'accept-encoding',
    'idempotency-key',
    'carillon-namespace',
    'if-none-match',
    'cookie',
    'carillon-seen',
    'host',
    'origin',
    'access-control-request-headers',
  ].map(header),
  text('paths', ['/', '/timers/', '/dead-letters/'], (path) => ask({ method: 'GET', path })),
  text('queries', ['', 'tag=', 'limit=', 'cursor='], (query) => ask({ method: 'GET', query })),
];

const words: Reader[] = [
  text('targets', ['', '/', 'http://', 'http://x'], (target) => splitTarget('GET', target)),
  text('callback URIs', ['', 'http://', 'http://x', 'http://x:', 'https://x/'], refuseUri),
  text(
    'callback URIs taken apart',
    ['', 'http://', 'http://x', 'http://x:', 'https://x/?'],
    (uri) => new UriSplitter().split(uri),
  ),
  text('callback headers', ['', 'x-'], (name) => [
    refuseHeader(name, 'v'),
    refuseHeader('a', name),
  ]),
  text('instants', ['', '2026-01-01T00:00:00.', '2026-'], parseInstant),
  text('durations', ['', '1', '1.', '1h'], parseDuration),
  text('traces', ['', '00-', `cc-${'1'.repeat(32)}-${'2'.repeat(16)}-01-`], parseTraceparent),
  text('Retry-After', ['', '1', 'Mon, 01 '], (value) => parseRetryAfter(value, 0)),
  text('timer ids', ['', '00000019000000010000000100000002'], parseTimerId),
  text('tokens', ['', 'carillon_', 'carillon_0123456789ab_'], tokenIdOf),
  text('namespaces', ['', 'a'], isNamespace),
  text('addresses of clients', ['', '::ffff:', '::'], networkOf),
  text('addresses', ['', '::', '1.'], parseAddress),
  text('ranges', ['', '10.0.0.0/', '['], parseRange),
  text('allowed ranges', ['', '10.0.0.0/', '['], parseAllow),
  text('addresses to listen at', ['', '[', 'x:'], address),
  text('tokens files', ['', '{"tokens":[{"name":"'], parseTokens),
];

/** Short files of YAML are read by a library, at a millisecond or two a KiB; longer ones by their plain forms. */
const yamlFloorMs = 12;
const yamlUnits = [
  ...'"\'[{ \n#'.split(''),
  ...'- |a: b\n|a: |: |? |&a |*a |!a |---\n|[a]: |- a\n|a\n|"" '.split('|'),
  '|\n',
];
const files: Reader[] = [
  {
    ...text('members files', ['', 'members:\n  - name: ', 'members: ['], parseMembers),
    units: yamlUnits,
    floorMs: yamlFloorMs,
  },
  {
    ...text('configuration files', ['', 'callbacks:\n  allow: [', 'name: "'], (file) =>
      loadConfig({ flags: { config: 'x' }, readFile: () => file }),
    ),
    units: yamlUnits,
    floorMs: yamlFloorMs,
  },
  {
    ...text('files of commands', ['timers:\n  - name: '], (file) => [
      attempt(() => readDeclared(file, undefined)),
      attempt(() => buildTopology(parseYamlText(file))),
    ]),
    units: ['"', 'a: b\n', '*a ', '|\n'],
    floorMs: yamlFloorMs,
  },
  text('topologies', ['', '{"domains":[{"name":"', '{"'], (file) =>
    compileTopology(buildTopology(JSON.parse(file) as never)),
  ),
];

function readFrames(pieces: Iterable<Buffer>): void {
  const reader = new FrameReader(1 << 20);
  attempt(() => {
    for (const piece of pieces) reader.push(piece, () => true);
  });
}

function readGrpc(pieces: Iterable<Buffer>): void {
  const frames = new GrpcFrames();
  for (const piece of pieces) {
    frames.push(piece);
    for (let next = frames.next(); next !== null; next = frames.next())
      if (next === 'unfit') return;
  }
}

const atZero = { nowMs: 0, wallMs: 0 };
/** A head that announces more than ever comes. */
const longFrame = '\0\0\x08\0\0\0\0\0';
const longMessage = '\0\0\x08\0\0';
const peers: Reader[] = [
  {
    name: 'frames of peers, in small pieces',
    starts: ['', longFrame],
    read: (input) => readFrames(inPieces(input)),
  },
  {
    name: 'messages of peers',
    starts: ['', '\x01', '\x05'],
    read: (input) => attempt(() => decodeMessages(input, atZero)),
  },
  {
    name: 'answers of peers',
    starts: ['', '\x01', '\x05'],
    read: (input) => attempt(() => decodeAnswers(input, atZero)),
  },
  {
    name: 'frames of etcd, in small pieces',
    starts: ['', longMessage],
    read: (input) => readGrpc(inPieces(input)),
  },
  {
    name: 'messages of etcd',
    starts: ['', '\x0a', '\x12'],
    read: (input) =>
      [decodeRange, decodeTxn, decodeWatch].map((decode) => attempt(() => decode(input))),
  },
];

function shapesOf({ starts, units: own }: Reader): Shape[] {
  if (own !== undefined) {
    return starts.flatMap((start) => own.map((unit) => repeated(start, unit)));
  }
  return starts.flatMap((start) =>
    units.flatMap((unit) => ends.map((end) => repeated(start, unit, end))),
  );
}

describe('twice the input takes no more than three times the work', () => {
  test.each([...wire, ...bodies, ...asked, ...words, ...files, ...peers])(
    '$name',
    async (reader) => {
      // Once before, so that nothing is measured that is compiled for the first time.
      for (const shape of shapesOf(reader)) await reader.read(shape.of(512));
      const found: string[] = [];
      for (const shape of shapesOf(reader)) {
        const why = await growth(shape, reader.read, reader.floorMs);
        if (why !== null) found.push(`${shape.name}: ${why}`);
      }
      expect(found).toEqual([]);
    },
  );

  test('callbacks at a receiver', async () => {
    const handle = receiver(() => {});
    const shapes = units.flatMap((unit) => ends.map((end) => repeated('{"id":"', unit, end)));
    const read = async (input: Buffer): Promise<void> => {
      const headers = { 'x-timer-id': 'a', 'x-timer-count': '2' };
      const body = Uint8Array.from(input);
      const request = new Request('http://x/', { method: 'POST', headers, body });
      expect((await handle(request)).status).toBeLessThan(500);
    };
    for (const shape of shapes) expect(await growth(shape, read)).toBeNull();
  });
});

describe('the measure', () => {
  const zeros = repeated('', '0');

  test('finds work that grows with the square', async () => {
    const square = (input: Buffer): number => {
      let sum = 0;
      for (let i = 0; i < input.length; i++)
        for (let j = i; j < input.length; j++) sum += input[j] ?? 0;
      return sum;
    };
    expect(await growth(zeros, square)).toContain('bytes take');
    const later = async (input: Buffer): Promise<number> => square(await Promise.resolve(input));
    expect(await growth(zeros, later)).toContain('bytes take');
  });

  test('finds a pattern that shares its text in many ways', async () => {
    const shape = repeated('A', ' ', '!');
    const read = (input: Buffer): unknown => / +$/.exec(input.toString('latin1'));
    expect(await growth(shape, read)).toContain('bytes take');
  });

  test('finds nothing in work that grows with the input', async () => {
    const read = (input: Buffer): number => input.reduce((sum, byte) => sum + byte, 0);
    expect(await growth(zeros, read)).toBeNull();
  });
});
