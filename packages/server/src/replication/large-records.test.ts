/** Frames between members are bounded in bytes, for records of any size; nothing is lost for it. */
import { encodeDefinition, type Network, type TimerRecord } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { Store } from '../store/store.ts';
import { anything, definitionOf, helloOf, recordOf } from '../testing/records.ts';
import { createInbox, type MessageHandler } from './inbox.ts';
import { Peers } from './peers.ts';
import { listEverywhere, listHere, type RecordPage } from './lists/list.ts';
import type { ReadParts } from './read.ts';
import type { Replica } from './replica.ts';
import { frameBytesMax, pageBytesMax, recordBytes, turnBytesMax } from './sizes.ts';
import { ScanTurns } from './scan-turns.ts';
import { tallyHere } from './lists/tally.ts';
import type { Answer } from './wire/answer.ts';
import { decodeMessages, protocol } from './wire/frame.ts';
import type { Message } from './wire/message.ts';

const atZero = { nowMs: 0, wallMs: 0 };
const body = new Uint8Array(64 * 1024);
const large = recordOf({ body });
const claimOf = (standing: TimerRecord): Message => ({
  type: 'claim',
  standing,
  termMs: 1,
  position: 0,
  calling: false,
  serial: 1,
  dueMs: 0,
});
const log = { debug() {}, info() {}, warn() {}, error() {} };
const hello = helloOf({ protocolMax: protocol.max });

let clock: VirtualClock;
let peers: Peers;
/** Sizes of all frames both ways, in the order they were sent. */
let frames: number[];
/** The peer's answer to each message. */
let handle: MessageHandler;
let answers: boolean;
/** The connection of each frame to the peer, and the messages in it. */
let ways: { isHeavy: boolean; types: string[] }[];

beforeEach(() => {
  clock = new VirtualClock();
  frames = [];
  answers = true;
  ways = [];
  handle = (_, message, answer) =>
    answer(message.type === 'hello' ? { type: 'hello', hello } : answerTo(message));
  const inbox = createInbox('b', { clock, log, delayOf: () => 0 }, (from, message, answer) =>
    handle(from, message, answer),
  );
  const network: Pick<Network, 'call'> = {
    call: (_, bytes, { limitMs, isHeavy = false }, done) => {
      frames.push(bytes.length);
      ways.push({ isHeavy, types: decodeMessages(bytes, atZero).items.map(({ type }) => type) });
      if (!answers) {
        clock.at(clock.now() + limitMs, () => done(null));
        return;
      }
      clock.soon(() =>
        inbox(bytes, (answer) => {
          frames.push(answer.length);
          clock.soon(() => done(answer));
        }),
      );
    },
  };
  peers = new Peers({
    self: 'a',
    clock,
    delayOf: () => 0,
    log,
    network: network as Network,
    addressOf: () => 'b:1',
    queueLengthMax: 100_000,
    onBack: () => undefined,
    onFrame: () => undefined,
  });
});

function answerTo(message: Message): Answer {
  switch (message.type) {
    case 'read':
      return { type: 'record', record: { ...large, lo: message.lo } };
    case 'claim':
      return { type: 'ahead', record: { ...large, lo: message.standing.lo } };
    case 'store':
    case 'offer':
    case 'list':
    case 'hello':
    case 'digest':
    case 'range':
    case 'unconfirmed':
    case 'attempts':
    case 'tally':
    case 'history':
    case 'erase':
    case 'facts':
    case 'search':
    case 'details':
      return { type: 'stored' };
  }
}

/** The answers to messages that are sent in one turn. */
async function exchange(messages: readonly Message[]): Promise<(Answer | null)[]> {
  const heard: (Answer | null)[] = [];
  messages.forEach((message, i) => {
    peers.send('b', message, (answer) => {
      heard[i] = answer;
    });
  });
  await clock.advance(100);
  return heard;
}

/** From now on both know the newest protocol. */
const meet = () => exchange([{ type: 'hello', hello }]);

const hundred = Array.from({ length: 100 }, (_, lo) => ({ hi: 1, lo }));
/** One record more than fits, plus the rest of a frame. */
const fullBytes = frameBytesMax + 1024;

describe('frames between members', () => {
  test('stores go in frames that are full, not longer', async () => {
    const stores = hundred.map(({ lo }) => ({
      type: 'store' as const,
      mode: 'any' as const,
      record: { ...large, lo },
    }));
    expect(await exchange(stores)).toEqual(stores.map(() => ({ type: 'stored' })));
    expect(Math.max(...frames)).toBeLessThan(fullBytes);
  });

  test('a record that is longer than a frame goes alone', async () => {
    const record = recordOf({ body: new Uint8Array(2 * frameBytesMax) });
    const store = { type: 'store', mode: 'any', record } as const;
    expect(await exchange([store, store])).toEqual([{ type: 'stored' }, { type: 'stored' }]);
    expect(frames.filter((bytes) => bytes > frameBytesMax)).toHaveLength(2);
  });

  test.each<[string, (lo: number) => Message]>([
    ['reads', (lo) => ({ type: 'read', hi: 1, lo })],
    ['claims for records that have moved on', (lo) => claimOf({ ...large, lo })],
  ])('answers to %s come in several frames, each to its question', async (_, messageOf) => {
    await meet();
    frames = [];
    const heard = await exchange(hundred.map(({ lo }) => messageOf(lo)));
    expect(heard.map((answer) => (answer as { record: { lo: number } }).record.lo)).toEqual(
      hundred.map(({ lo }) => lo),
    );
    expect(Math.max(...frames)).toBeLessThan(fullBytes);
  });

  test('a small answer is never put off for large ones before it', async () => {
    await meet();
    let asked = 0;
    handle = (_, message, answer) => {
      if (message.type === 'claim') asked++;
      answer(message.type === 'claim' ? { type: 'granted' } : answerTo(message));
    };
    const claims = hundred.map(({ lo }) => claimOf({ ...large, lo }));
    await exchange([...hundred.map(({ lo }): Message => ({ type: 'read', hi: 1, lo })), ...claims]);
    expect(asked).toBe(claims.length);
  });

  test('claims and a few short records share a connection; long records, many at once, and reads go on another', async () => {
    await meet();
    ways = [];
    const claim = claimOf(large);
    const store = (record: TimerRecord): Message => ({ type: 'store', mode: 'any', record });
    const short = recordOf({});
    const read: Message = { type: 'read', hi: 1, lo: 1 };
    await exchange([store(large), store(short), claim, read]);
    expect(ways).toEqual([
      { isHeavy: false, types: ['claim'] },
      { isHeavy: false, types: ['store'] },
      { isHeavy: true, types: ['store'] },
      { isHeavy: true, types: ['read'] },
    ]);
    ways = [];
    await exchange(Array.from({ length: 400 }, () => store(short)));
    expect(ways.map(({ isHeavy, types }) => [isHeavy, types.length])).toEqual([[true, 400]]);
  });

  test('a short record waits for no long one: not in a queue, and not for an answer', async () => {
    answers = false;
    const store = (record: TimerRecord): Message => ({ type: 'store', mode: 'any', record });
    const record = recordOf({ body: new Uint8Array(frameBytesMax) });
    for (let i = 0; i < 100; i++) peers.send('b', store(record), () => undefined);
    await clock.advance(10);
    expect(ways).toHaveLength(32);
    peers.send('b', store(recordOf({})), () => undefined);
    await clock.advance(0);
    expect(ways.at(-1)).toEqual({ isHeavy: false, types: ['store'] });
    expect(peers.owed).toBe(true);
    expect(peers.stalledMs('b')).toBe(10);
  });

  test('a release from before gets all answers in one frame: it knows no other way', async () => {
    const heard = await exchange(hundred.map(({ lo }): Message => ({ type: 'read', hi: 1, lo })));
    expect(heard.every((answer) => answer?.type === 'record')).toBe(true);
    expect(Math.max(...frames)).toBeGreaterThan(hundred.length * body.length);
  });

  test('an answer that puts off everything is none', async () => {
    await meet();
    handle = (_, __, answer) => answer({ type: 'later' });
    expect(await exchange([{ type: 'read', hi: 1, lo: 2 }])).toEqual([null]);
  });
});

describe('a reader', () => {
  const list: Message = {
    type: 'list',
    ask: anything,
  };

  test.each<[string, Message]>([
    ['list', list],
    ['read', { type: 'read', hi: 1, lo: 2 }],
  ])(
    'that gets no answer to a %s makes no peer silent; a claim without one does',
    async (_, message) => {
      await meet();
      answers = false;
      peers.send('b', message, () => undefined);
      await clock.advance(5000);
      expect(peers.silent('b')).toBe(false);
      peers.send('b', claimOf(large), () => undefined);
      await clock.advance(5000);
      expect(peers.silent('b')).toBe(true);
    },
  );

  test('that waits for a search holds up no claim', async () => {
    await meet();
    handle = (_, message, answer) => {
      if (message.type !== 'list') answer({ type: 'granted' });
    };
    const claim = claimOf(large);
    const heard = await exchange([list, list, list, claim]);
    expect(heard.at(-1)).toEqual({ type: 'granted' });
  });
});

describe('a list of large timers', () => {
  const ask = { ...anything, limit: 1000 };

  function parts(of: Uint8Array = body) {
    const store = new Store();
    for (const number of hundred) store.put(recordOf({ ...number, body: of, replicas: ['a'] }));
    const own = new VirtualClock();
    const replica = { store, scans: new ScanTurns(own) } as Replica;
    return { self: 'a', clock: own, peers: null, replica };
  }

  /** Resolves while time stands still: a list gives way to others by `soon` alone. */
  async function given<T>(reader: { clock: VirtualClock }, result: Promise<T>): Promise<T> {
    const results: T[] = [];
    void result.then((value) => results.push(value));
    while (results.length === 0) await reader.clock.advance(0);
    return result;
  }

  test('one member gives as many records as fit into a frame, and says where it stopped', async () => {
    const reader = parts();
    const { records, stopped } = await given(reader, listHere(reader, ask));
    expect(records.length * recordBytes(large)).toBeLessThan(fullBytes + recordBytes(large));
    const last = records.at(-1);
    expect(Number.parseInt(stopped?.slice(8) ?? '', 16)).toBe(last?.lo);
  });

  test('a page is bounded in bytes, and pages together show everything once', async () => {
    const reader = parts();
    const seen: number[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const asked = listEverywhere(reader, { ...ask, cursor }, ['a']);
      const page: RecordPage = await given(reader, asked);
      // The record that fills it is in it.
      expect((page.records.length - 1) * recordBytes(large)).toBeLessThan(pageBytesMax);
      seen.push(...page.records.map(({ lo }) => lo));
      ({ cursor } = page);
    }
    expect(seen.toSorted((a, b) => a - b)).toEqual(hundred.map(({ lo }) => lo));
  });

  test.each([
    [
      'a search that finds nothing',
      (reader: ReadParts) => listHere(reader, { ...ask, tag: 'none' }),
    ],
    ['a count', (reader: ReadParts) => tallyHere(reader, ask)],
    [
      'each of many searches and counts at once',
      (reader: ReadParts) =>
        Promise.all(
          [1, 2, 3].flatMap(() => [
            tallyHere(reader, ask),
            listHere(reader, { ...ask, tag: 'none' }),
          ]),
        ),
    ],
  ])('%s reads a bounded number of bytes in one turn', async (_, search) => {
    const reader = parts(encodeDefinition(definitionOf({ opaque: 'x'.repeat(body.length) })));
    let turnBytes = 0;
    let turnBytesSeen = 0;
    const { store } = reader.replica;
    const read = store.read.bind(store);
    store.read = (of) => {
      turnBytes += body.length;
      turnBytesSeen = Math.max(turnBytesSeen, turnBytes);
      return read(of);
    };
    const soon = reader.clock.soon.bind(reader.clock);
    reader.clock.soon = (fn) =>
      soon(() => {
        turnBytes = 0;
        fn();
      });
    const begun = search(reader);
    // The first slice of each belongs to the turn of its request.
    turnBytes = 0;
    turnBytesSeen = 0;
    await given<unknown>(reader, begun);
    expect(turnBytesSeen).toBeLessThanOrEqual(turnBytesMax + body.length);
    expect(turnBytesSeen).toBeGreaterThan(0);
  });
});
