/**
 * Both parsers of bytes from outside against llhttp, by a server and a client of node:http. A failure is: both take the
 * bytes and read different messages; only Carillon takes them; where the bytes are cut matters. More inputs on demand:
 * `DIFFERENTIAL_INPUTS=1000000 npx vitest run --project security test/security/differential`.
 */
import { connect } from 'node:net';
import { SeededRandom } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { Mutator } from '../fuzz/mutate.ts';
import { answersDiffer, requestsDiffer, restsOnLine } from './compare.ts';
import { answerCorpus, requestCorpus, words } from './corpus.ts';
import { recordingServer, theirAnswer, type TheirRequests, TheirServer, turns } from './llhttp.ts';
import { answerIn, requestsIn, statusLineIn } from './ours.ts';
import { stricter } from './stricter.ts';
import { listening } from '../../e2e/support/listening.ts';

const inputs = Number(process.env['DIFFERENTIAL_INPUTS'] ?? 60_000);
const timeout = 600_000 + inputs;
/** Read side by side. */
const batchCount = 500;

interface Input {
  readonly bytes: Buffer;
  readonly pieces: readonly Buffer[];
  readonly method: string;
}

/** The fault, and the bytes that show it. */
interface Found {
  readonly wrong: string;
  readonly input: string;
}

const foundMax = 20;

function* batches(all: Iterable<Input>): Iterable<Input[]> {
  let batch: Input[] = [];
  for (const input of all) {
    batch.push(input);
    if (batch.length < batchCount) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

function shown({ pieces }: Input): string {
  const text = pieces.map((piece) => piece.toString('latin1'));
  return JSON.stringify(text.length <= 2 ? text : [text.join('')]);
}

function cutAt(bytes: Buffer, at: number): Buffer[] {
  return at === 0 ? [bytes] : [bytes.subarray(0, at), bytes.subarray(at)];
}

function inBytes(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (byte) => Buffer.of(byte));
}

/** Each of them whole, cut at every byte, and byte by byte. */
function* everyCut(corpus: readonly Buffer[], methods: readonly string[]): Iterable<Input> {
  for (const bytes of corpus)
    for (const method of methods) {
      for (let at = 0; at < bytes.length; at++) yield { bytes, method, pieces: cutAt(bytes, at) };
      yield { bytes, method, pieces: inBytes(bytes) };
    }
}

/** Changed ones, each cut somewhere. */
function* changed(corpus: readonly Buffer[], seed: number, count: number): Iterable<Input> {
  const random = new SeededRandom(seed);
  const mutator = new Mutator({ corpus, words, bytesMax: 1024 });
  for (let i = 0; i < count; i++) {
    const bytes = Buffer.from(mutator.make(random));
    const method = random.pick(['POST', 'GET', 'HEAD']);
    const pieces = cutAt(bytes, random.between(0, Math.max(0, bytes.length - 1)));
    yield { bytes, method, pieces };
  }
}

interface Tally {
  count: number;
  taken: number;
  readonly found: Found[];
  readonly refusals: Map<string, number>;
}

async function readRequests(all: Iterable<Input>): Promise<Tally> {
  const server = new TheirServer();
  const tally: Tally = { count: 0, taken: 0, found: [], refusals: new Map() };
  for (const batch of batches(all)) {
    const theirs = batch.map(({ pieces }) => server.read(pieces));
    await turns();
    for (const [i, input] of batch.entries()) {
      const their = theirs[i] as (typeof theirs)[number];
      their.done();
      judgeRequests(input, their.result, tally);
    }
  }
  return tally;
}

function judgeRequests(input: Input, theirs: TheirRequests, tally: Tally): void {
  const ours = requestsIn(input.pieces);
  tally.count++;
  if (ours.requests.some(({ complete }) => complete)) tally.taken++;
  const whole = requestsIn([input.bytes]);
  const cut = JSON.stringify(ours) === JSON.stringify(whole) ? null : 'the cut matters';
  const wrong = cut ?? requestsDiffer(ours, theirs);
  if (wrong !== null && tally.found.length < foundMax)
    tally.found.push({ wrong, input: shown(input) });
  if (ours.end === 'refused' && theirs.requests.length > ours.requests.length)
    tally.refusals.set(ours.why, (tally.refusals.get(ours.why) ?? 0) + 1);
}

async function readAnswers(all: Iterable<Input>): Promise<Tally> {
  const tally: Tally = { count: 0, taken: 0, found: [], refusals: new Map() };
  for (const batch of batches(all)) {
    const lines: Input[] = [];
    await judgeAnswers(batch, tally, lines);
    // A status that only Carillon takes has to stand in a line that is good up to there.
    await judgeAnswers(lines, { ...tally, count: 0 }, null);
  }
  return tally;
}

async function judgeAnswers(
  batch: readonly Input[],
  tally: Tally,
  lines: Input[] | null,
): Promise<void> {
  const theirs = batch.map(({ pieces, method }) => theirAnswer(pieces, method));
  await turns();
  for (const [i, input] of batch.entries()) {
    const { result, done } = theirs[i] as (typeof theirs)[number];
    done();
    const { bytes, pieces, method } = input;
    const ours = answerIn(pieces, method);
    tally.count++;
    if (ours.progress === 'whole') tally.taken++;
    const whole = answerIn([bytes], method);
    const cut = JSON.stringify(ours) === JSON.stringify(whole) ? null : 'the cut matters';
    const alone = restsOnLine(ours, result);
    if (alone) lines?.push(lineAlone(input));
    const line = alone && lines === null ? 'only Carillon takes the line of the status' : null;
    const wrong = cut ?? answersDiffer(method, ours, result) ?? line;
    if (wrong !== null && tally.found.length < foundMax)
      tally.found.push({ wrong, input: shown(input) });
  }
}

function lineAlone({ bytes, method }: Input): Input {
  const line = statusLineIn(bytes, method).toString('latin1').slice(0, 'HTTP/1.1 200'.length);
  const alone = Buffer.from(`${line}\r\ncontent-length: 0\r\n\r\n`, 'latin1');
  return { bytes: alone, pieces: [alone], method };
}

const corpusRequests = [...everyCut(requestCorpus, ['POST'])];
const corpusAnswers = [...everyCut(answerCorpus, ['POST', 'HEAD'])];
const changedCount = Math.max(1000, inputs - corpusRequests.length - corpusAnswers.length);

test('requests of a corpus, cut at every byte', { timeout }, async () => {
  const { count, taken, found } = await readRequests(corpusRequests);
  expect(found).toEqual([]);
  expect([count, taken > count / 10, taken < count]).toEqual([corpusRequests.length, true, true]);
});

test('answers of a corpus, cut at every byte', { timeout }, async () => {
  const { count, taken, found } = await readAnswers(corpusAnswers);
  expect(found).toEqual([]);
  expect([count, taken > count / 10, taken < count]).toEqual([corpusAnswers.length, true, true]);
});

test('requests that were changed at random; where Carillon is stricter is known', {
  timeout,
}, async () => {
  const { taken, found, refusals } = await readRequests(
    changed(requestCorpus, 1, Math.ceil(changedCount * 0.6)),
  );
  expect(found).toEqual([]);
  expect(taken).toBeGreaterThan(changedCount / 50);
  expect([...refusals.keys()].filter((why) => stricter[why] === undefined)).toEqual([]);
  expect(Object.keys(stricter).filter((why) => !refusals.has(why))).toEqual([]);
});

test('answers that were changed at random', { timeout }, async () => {
  const { taken, found } = await readAnswers(
    changed(answerCorpus, 2, Math.ceil(changedCount * 0.4)),
  );
  expect(found).toEqual([]);
  expect(taken).toBeGreaterThan(changedCount / 50);
});

/** Over a socket, to its end. */
function readOverTcp(port: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.on('close', () => resolve());
    socket.resume();
    socket.end(bytes);
  });
}

test('node:http reads the same over a socket as in memory', { timeout }, async () => {
  let overTcp: TheirRequests = { requests: [], failed: null };
  const server = recordingServer(() => overTcp);
  // A client that breaks off keeps the server waiting until its socket is gone.
  server.on('clientError', (_, socket) => socket.destroy());
  const port = await listening(server);
  const memory = new TheirServer();
  for (const bytes of requestCorpus) {
    overTcp = { requests: [], failed: null };
    await readOverTcp(port, bytes);
    const { result, done } = memory.read([bytes]);
    await turns();
    done();
    const heads = ({ requests }: TheirRequests): unknown[] =>
      requests.map(({ method, url, headers }) => [method, url, headers]);
    expect(heads(overTcp)).toEqual(heads(result));
  }
  await new Promise((resolve) => server.close(resolve));
});

test.each([
  ['another body', { body: 'other' }],
  ['another path', { path: '/other' }],
  ['another method', { method: 'PUT' }],
  ['another header', { headers: { host: 'x', 'content-length': '6' } }],
  ['less of the body', { complete: false }],
])('a reading with %s is found', async (_, change) => {
  const bytes = Buffer.from('POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhello');
  const { result, done } = new TheirServer().read([bytes]);
  await turns();
  done();
  const ours = requestsIn([bytes]);
  expect(requestsDiffer(ours, result)).toBeNull();
  const requests = ours.requests.map((request) => ({ ...request, ...change }));
  expect(requestsDiffer({ ...ours, requests }, result)).not.toBeNull();
  expect(requestsDiffer(ours, { requests: [], failed: 'x' })).toContain('only Carillon');
  expect(requestsDiffer({ ...ours, requests: [] }, result)).toContain('only node:http');
});

test.each([
  ['another status', { status: 201 }],
  ['more to come', { progress: 'more' as const }],
  ['another Retry-After', { retryAfter: '8' }],
])('an answer with %s is found', async (_, change) => {
  const text = 'HTTP/1.1 429 X\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n';
  const bytes = Buffer.from(text);
  const { result, done } = theirAnswer([bytes], 'POST');
  await turns();
  done();
  const ours = answerIn([bytes], 'POST');
  expect(answersDiffer('POST', ours, result)).toBeNull();
  expect(answersDiffer('POST', { ...ours, ...change }, result)).not.toBeNull();
  expect(answersDiffer('POST', ours, { ...result, keeps: false })).toContain('keeps');
});
