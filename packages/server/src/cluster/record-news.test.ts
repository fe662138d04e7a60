import { State, type TimerRecord } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { Metrics } from '../metrics/metrics.ts';
import type { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import type { Answer } from '../replication/wire/answer.ts';
import type { Message } from '../replication/wire/message.ts';
import { memberOf } from '../testing/quiet-members.ts';
import { recordOf } from '../testing/records.ts';
import { RecordNews } from './record-news.ts';
import type { Repair } from './repair.ts';
import { View } from './view/view.ts';

/** The acts of member `a`, a sentence each, in a view of `a`, `b` and `c` in which a record belongs to `a` and `b`. */
interface Scene {
  readonly did: string[];
  readonly news: RecordNews;
  readonly metrics: Metrics;
  readonly clock: VirtualClock;
}

interface Setting {
  /** The answer of other members to a record. */
  readonly answer?: Answer | null;
  readonly isAlone?: boolean;
  readonly isStarted?: boolean;
}

function sceneOf({ answer = null, isAlone = false, isStarted = true }: Setting = {}): Scene {
  const did: string[] = [];
  const peers = {
    send: (name: string, message: Message, done: (answer: Answer | null) => void) => {
      if (message.type === 'store') did.push(`${message.mode} to ${name}`);
      else if (message.type === 'unconfirmed')
        did.push(`${name} is to tell ${message.names.join()}`);
      done(message.type === 'unconfirmed' ? { type: 'ok' } : answer);
    },
  } as unknown as Peers;
  const repair = {
    handOff: {
      add: () => did.push('hand off'),
      bury: () => did.push('bury'),
    },
    resync: { noteIrregular: () => did.push('irregular') },
    unconfirmed: {
      add: (name: string) => did.push(`${name} lacks it`),
      pushAll: () => did.push('push'),
    },
  } as unknown as Repair;
  const replica = {
    write: ({ state, dueMs, body }: TimerRecord) =>
      did.push(`write ${state} due ${dueMs} of ${body.length} bytes`),
    drop: () => did.push('drop'),
  } as unknown as Replica;
  const members = ['a', 'b', 'c'].map((name) => memberOf(name));
  const metrics = new Metrics({ version: '1', runtime: 'node' });
  const clock = new VirtualClock();
  const news = new RecordNews({
    self: 'a',
    clock,
    metrics,
    peers: isAlone ? null : peers,
    membership: { view: new View({ source: 'static', revision: 1, members }) },
    holders: {
      desired: () => ['a', 'b'],
      othersOf: ({ replicas }) => replicas.filter((name) => name !== 'a'),
    },
    replica: () => (isStarted ? replica : null),
    repair: () => (isStarted && !isAlone ? repair : null),
  });
  return { did, news, metrics, clock };
}

test.each<[string, readonly string[], readonly string[] | undefined, readonly string[]]>([
  ['is right: nothing to do', ['a', 'b'], undefined, []],
  ['lacks a replica: tell it', ['a', 'c'], undefined, ['irregular', 'update to b']],
  ['has one too many: look at it later', ['a', 'b', 'c'], undefined, ['irregular']],
  ['lacks this member', ['b', 'c'], undefined, ['hand off', 'irregular']],
  ['is the wanted one, as just computed', ['a', 'c'], ['a', 'c'], []],
  ['is not the wanted one', ['a', 'b'], ['a', 'c'], ['irregular', 'update to c']],
])('a changed record whose list %s', (_, replicas, wanted, expected) => {
  const { news, did } = sceneOf();
  news.changed(recordOf({ replicas }), wanted);
  expect(did).toEqual(expected);
});

type Copied = Parameters<Metrics['copies']['add']>[0];
const full = { type: 'refused', why: 'full' } as const;

test.each<[string, Answer | null, readonly string[], Copied]>([
  ['has it', { type: 'stored' }, [], 'stored'],
  ['does not answer', null, ['b lacks it'], 'unanswered'],
  ['has no room', full, ['b lacks it'], 'refused'],
  ['will never take it', { type: 'refused', why: 'namespace' }, [], 'refused'],
  ['has a newer one', { type: 'have', progress: recordOf() }, ['b lacks it'], 'kept'],
])('a replica that is told of a new state and %s', (_, answer, noted, counted) => {
  const { news, did, metrics } = sceneOf({ answer });
  news.tell(recordOf());
  expect(did).toEqual(['any to b', ...noted]);
  expect(metrics.copies.count(counted)).toBe(1);
});

test('members that are not listed and have the record are told of a new state once, and not again', () => {
  const { news, did, metrics } = sceneOf();
  news.tell(recordOf(), ['b', 'c']);
  expect(did).toEqual(['update to c', 'any to b', 'b lacks it']);
  expect(metrics.copies.count('unanswered')).toBe(1);
});

test.each<[string, boolean, readonly string[], readonly string[]]>([
  ['a new timer that this member holds', true, ['a', 'b'], ['c lacks it', 'push']],
  ['a new timer that others hold', true, ['b'], ['b is to tell c']],
  ['a change that this member holds', false, ['a'], ['c lacks it', 'push']],
  ['a change that others hold too', false, ['a', 'b'], ['c lacks it', 'push', 'b is to tell c']],
  ['a change that others hold', false, ['b', 'd'], ['b is to tell c', 'd is to tell c']],
])('a member did not confirm %s', (_, isNew, holders, expected) => {
  const { news, did } = sceneOf();
  news.unconfirmed({ number: { hi: 1, lo: 2 }, names: ['c'], holders, isNew });
  expect(did).toEqual(expected);
});

test('a record is brought to members of the view, and to no others', () => {
  const { news, did } = sceneOf();
  news.noteUnconfirmed({ hi: 1, lo: 2 }, ['gone', 'b']);
  expect(did).toEqual(['b lacks it', 'push']);
});

test.each<[string, State, Setting, readonly string[]]>([
  ['a tombstone is handed on until all replicas have it', State.tombstone, {}, ['bury']],
  [
    'a tombstone of a member that is alone is dropped',
    State.tombstone,
    { isAlone: true },
    ['drop'],
  ],
  ['nothing ends before the start', State.dead, { isStarted: false }, []],
])('at the end of its time, %s', (_, state, setting, expected) => {
  const { news, did } = sceneOf(setting);
  news.end(recordOf({ state }));
  expect(did).toEqual(expected);
});

test.each<[Setting, readonly string[]]>([
  [{ answer: { type: 'stored' } }, ['any to b']],
  [{ isAlone: true }, []],
])(
  'a dead letter ends as a tombstone without its definition, which replicas are told',
  (setting, told) => {
    const { news, did, clock } = sceneOf(setting);
    news.end(recordOf({ state: State.dead }));
    expect(did).toEqual([`write ${State.tombstone} due ${clock.now()} of 0 bytes`, ...told]);
  },
);

test.each<Setting>([{ isAlone: true }, { isStarted: false }])(
  '%o: no member is told',
  (setting) => {
    const { news, did } = sceneOf(setting);
    news.changed(recordOf({ replicas: ['b', 'c'] }));
    news.tell(recordOf(), ['c']);
    news.noteUnconfirmed({ hi: 1, lo: 2 }, ['b']);
    news.unconfirmed({ number: { hi: 1, lo: 2 }, names: ['c'], holders: ['a'], isNew: true });
    expect(did).toEqual([]);
  },
);
