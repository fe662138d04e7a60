import { encodeDefinition, MalformedError, State } from '@carillon/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anything, definitionOf, recordOf } from '../../testing/records.ts';
import type { Answer } from './answer.ts';
import { decodeAnswers, decodeMessages, encodeAnswers, encodeMessages, protocol } from './frame.ts';
import type { ListAsk } from './list.ts';
import type { Message } from './message.ts';
import type { Hello } from './hello.ts';

const atMs = (nowMs: number) => ({ nowMs, wallMs: nowMs });

const record = recordOf({
  replicas: ['n0', 'n1', 'ñ2'],
  sequence: 300,
  attempt: 2,
  retryMs: 12_000,
});
const { hi, lo, versionMs, versionTie, state, sequence, attempt } = record;
const standing = { hi, lo, versionMs, versionTie, state, sequence, attempt };
const progress = { versionMs, versionTie, state, sequence, attempt };
const hello: Hello = {
  release: '1.2.3',
  protocolMin: 1,
  protocolMax: 3,
  viewId: 'abc',
  boot: 4_000_000_000,
  historyMs: 1e9,
  leaving: true,
  full: true,
  moving: true,
  disk: 'lost' as const,
  wallMs: 1.7e12,
  timers: 12_345_678,
  primaries: 5,
  load: {
    popsPerSecond: 12.5,
    retriedPerSecond: 1.5,
    givenUpPerSecond: 0.25,
    latenessP50Ms: 0.4,
    latenessP99Ms: null,
    lagMs: 3,
  },
  figures: { letters: 3, retrying: 4, answers: { '2xx': 5, refused: 6 } },
};

const ask: ListAsk = { ...anything, namespace: 'n', limit: 1000 };

const messages: Message[] = [
  { type: 'store', mode: 'any', record },
  {
    type: 'store',
    mode: 'create',
    record: { ...record, state: State.tombstone, body: new Uint8Array(0) },
  },
  { type: 'store', mode: 'update', record: recordOf({ replicas: [] }) },
  {
    type: 'claim',
    standing,
    termMs: 123.5,
    position: 3,
    calling: true,
    serial: 4_000_000_000,
    dueMs: 77.25,
  },
  { type: 'offer', standing, dueMs: 12_500 },
  { type: 'read', hi, lo },
  { type: 'list', ask },
  { type: 'list', ask: { ...ask, tag: 't', state: 'dead', cursor: 'ff', limit: 1 } },
  { type: 'list', ask: { ...ask, holder: 'n1', role: 'backup' } },
  { type: 'tally', ask: { ...ask, receiver: 'http://a', failure: '5xx' } },
  {
    type: 'search',
    search: {
      ask: { ...ask, tagPrefix: 'order:' },
      fromMs: Number.NEGATIVE_INFINITY,
      toMs: 1.8e12,
      after: { ms: Number.NEGATIVE_INFINITY, rank: 0, handle: -1 },
      wantTotal: true,
    },
  },
  { type: 'hello', hello },
  { type: 'hello', hello: { ...hello, load: null, figures: null } },
  { type: 'attempts', namespace: 'n', hi, lo },
  { type: 'digest', hashes: Uint32Array.from({ length: 256 }, (_, i) => i * 16_777_213) },
  { type: 'range', range: 255, standings: [standing, { ...standing, lo: 9 }] },
  { type: 'unconfirmed', hi, lo, names: ['a', 'b'] },
  { type: 'details', namespace: 'n', numbers: [{ hi, lo }] },
];

const answers: Answer[] = [
  { type: 'stored' },
  { type: 'have', progress },
  { type: 'refused', why: 'full' },
  { type: 'refused', why: 'namespace' },
  { type: 'granted' },
  { type: 'ahead', record },
  { type: 'claimed', leftMs: 12.25 },
  { type: 'unknown' },
  { type: 'need' },
  { type: 'record', record: null },
  { type: 'record', record },
  { type: 'records', records: [record, record], stopped: '00ff' },
  { type: 'hello', hello },
  { type: 'ranges', ranges: [0, 17, 255] },
  { type: 'difference', newer: [record], want: [{ hi: 1, lo: 2 }] },
  { type: 'ok' },
  { type: 'later' },
  { type: 'tally', groups: [] },
  { type: 'found', entries: [], stopped: null, total: null, refused: 'No.' },
  {
    type: 'found',
    entries: [{ place: { ms: 1.7e12, handle: 67_108_863 }, record }],
    stopped: { ms: 1.7e12 + 1, handle: -1 },
    total: { count: 1e7, exact: false },
    refused: '',
  },
  {
    type: 'tally',
    groups: [{ receiver: 'http://a', failure: '5xx', count: 7, firstMs: -5, lastMs: 9 }],
  },
  { type: 'attempts', attempts: [] },
  {
    type: 'details',
    details: [
      { atMs: 0, text: '' },
      { atMs: 1.7e12, text: 'database is down' },
    ],
  },
  {
    type: 'attempts',
    attempts: [
      {
        sequence: 3,
        attempt: 1,
        atMs: 1.7e12,
        latenessMs: 0.5,
        tookMs: 12,
        outcome: 503,
        detail: 'no',
      },
      {
        sequence: 3,
        attempt: 2,
        atMs: 1.7e12,
        latenessMs: 1000.5,
        tookMs: 3,
        outcome: 2,
        detail: '',
      },
    ],
  },
];

it('every message arrives as it was sent', () => {
  const frame = { protocol: protocol.max, from: 'n0', items: messages };
  expect(decodeMessages(encodeMessages(frame, atMs(5000)), atMs(5000))).toEqual(frame);
});

it('every answer arrives as it was sent', () => {
  const frame = { protocol: protocol.max, from: 'n1', items: answers };
  expect(decodeAnswers(encodeAnswers(frame, atMs(5000)), atMs(5000))).toEqual(frame);
});

it('an offer to a release before protocol 3 does not tell when the timer is due', () => {
  const items = messages.filter((one) => one.type === 'offer');
  const old = encodeMessages({ protocol: 2, from: 'n0', items }, atMs(5000));
  expect(decodeMessages(old, atMs(5000)).items).toEqual(
    items.map((one) => ({ ...one, dueMs: Number.POSITIVE_INFINITY })),
  );
  const late = decodeMessages(
    encodeMessages({ protocol: 3, from: 'n0', items }, atMs(5000)),
    atMs(6000),
  ).items;
  expect(late).toEqual(items.map((one) => ({ ...one, dueMs: one.dueMs + 1000 })));
});

it('a hello to a release before protocol 6 does not tell of pops that failed', () => {
  const items: Message[] = [{ type: 'hello', hello }];
  const [old] = decodeMessages(
    encodeMessages({ protocol: 5, from: 'n0', items }, atMs(0)),
    atMs(0),
  ).items;
  const load = { ...hello.load, retriedPerSecond: 0, givenUpPerSecond: 0 };
  expect(old).toEqual({ type: 'hello', hello: { ...hello, load } });
});

it('an older member is told of no change that it does not know', () => {
  const change = {
    kind: 'change',
    wallMs: 1000,
    namespace: 'n',
    hi,
    lo,
    versionMs: 1000,
    versionTie: 0,
    sequence: 0,
    actor: 'night-shift',
    tag: '',
  } as const;
  const position = { file: 1, offset: 2, index: 3 };
  const entries = (['set', 'drain'] as const).map((action) => ({
    entry: { ...change, action },
    position,
  }));
  const items: Answer[] = [{ type: 'history', read: { entries, more: null } }];
  const read = (version: number) =>
    decodeAnswers(encodeAnswers({ protocol: version, from: 'a', items }, atMs(0)), atMs(0)).items;
  expect(read(6)).toEqual(items);
  expect(read(5)).toEqual([
    { type: 'history', read: { entries: entries.slice(0, 1), more: null } },
  ]);
});

it('a frame of a protocol that this release does not know is malformed', () => {
  const bytes = encodeMessages({ protocol: protocol.max + 1, from: 'n0', items: [] }, atMs(0));
  expect(() => decodeMessages(bytes, atMs(0))).toThrow(MalformedError);
});

it('a record travels with its age: between two clocks it keeps its distance from now', () => {
  const bytes = encodeMessages(
    { protocol: protocol.max, from: 'a', items: [{ type: 'store', mode: 'any', record }] },
    atMs(4000),
  );
  const [message] = decodeMessages(bytes, atMs(1_000_000)).items;
  expect(message).toMatchObject({
    record: { startMs: 996_000, dueMs: 1_006_000, retryMs: 1_008_000, gapMs: record.gapMs },
  });
});

it('a frame that was on its way for a while makes records older, and claims tell that they lay', () => {
  const claim = messages.find(({ type }) => type === 'claim') as Message;
  const items: Message[] = [{ type: 'store', mode: 'any', record }, claim];
  const written = { nowMs: 4000, wallMs: 70_000 };
  const read = { nowMs: 1_000_000, wallMs: 70_060 };
  const seen: unknown[] = [];
  const delayOf = (...clocks: unknown[]): number => {
    seen.push(clocks);
    return 50;
  };
  const through = (version: number) =>
    decodeMessages(encodeMessages({ protocol: version, from: 'a', items }, written), read, delayOf)
      .items;
  const told = through(protocol.max);
  expect(seen).toEqual([['a', written, read]]);
  const claimRead = { type: 'claim', dueMs: 996_077.25 };
  expect(told).toMatchObject([{ record: { startMs: 995_950, dueMs: 1_005_950 } }, claimRead]);
  expect(through(6)).toMatchObject([{ record: { startMs: 996_000 } }, claimRead]);
  expect(seen).toHaveLength(1);
});

it('bytes that are cut short or changed are malformed or another frame, and nothing worse', () => {
  const bytes = encodeMessages({ protocol: protocol.max, from: 'n0', items: messages }, atMs(0));
  const reads = (changed: Uint8Array): void => {
    try {
      decodeMessages(changed, atMs(0));
      decodeAnswers(changed, atMs(0));
    } catch (error) {
      expect(error).toBeInstanceOf(MalformedError);
    }
  };
  for (let length = 0; length < bytes.length; length++) {
    expect(() => decodeMessages(bytes.subarray(0, length), atMs(0))).toThrow(MalformedError);
  }
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.nat(255), (at, value) => {
      const changed = bytes.slice();
      changed[at] = value;
      reads(changed);
    }),
    { numRuns: 2000 },
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), reads), { numRuns: 2000 });
});

it('a frame can be read wherever it stands in a larger buffer, as sockets deliver it', () => {
  const frame = { protocol: protocol.max, from: 'n0', items: messages };
  const bytes = encodeMessages(frame, atMs(0));
  for (let offset = 0; offset < 4; offset++) {
    const larger = Buffer.concat([Buffer.alloc(offset), bytes, Buffer.alloc(3)]);
    const read = decodeMessages(larger.subarray(offset, offset + bytes.length), atMs(0));
    expect(encodeMessages(read, atMs(0))).toEqual(bytes);
  }
});

it('a member that speaks a protocol without traces gets timers without them', () => {
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const traced = recordOf({ body: encodeDefinition(definitionOf({ trace })) });
  const bare = recordOf({ body: encodeDefinition(definitionOf()) });
  const arrives = (version: number) => {
    const frame = { protocol: version, from: 'a' };
    const store: Message = { type: 'store', mode: 'any', record: traced };
    const read: Answer = { type: 'record', record: traced };
    const message = decodeMessages(encodeMessages({ ...frame, items: [store] }, atMs(0)), atMs(0))
      .items[0];
    const answer = decodeAnswers(encodeAnswers({ ...frame, items: [read] }, atMs(0)), atMs(0))
      .items[0];
    return [message, answer].map((one) => one !== undefined && 'record' in one && one.record?.body);
  };
  expect(arrives(6)).toEqual([traced.body, traced.body]);
  expect(arrives(5)).toEqual([bare.body, bare.body]);
});
