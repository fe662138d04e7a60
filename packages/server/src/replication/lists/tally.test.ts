import { encodeDefinition, Outcome, State, type TimerRecord } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { Store } from '../../store/store.ts';
import { anything, definitionOf, recordOf } from '../../testing/records.ts';
import type { Peers } from '../peers.ts';
import type { Replica } from '../replica.ts';
import { ScanTurns } from '../scan-turns.ts';
import type { ReadParts } from '../read.ts';
import { speaksFor, tallyEverywhere, tallyHere } from './tally.ts';
import type { TallyGroup } from '../wire/list.ts';

const letters = { ...anything, state: 'dead' };

function parts(records: readonly TimerRecord[], peers: Peers | null = null) {
  const store = new Store();
  for (const record of records) store.put(record);
  const clock = new VirtualClock();
  return { self: 'a', clock, peers, replica: { store, scans: new ScanTurns(clock) } as Replica };
}

async function given<T>({ clock }: { clock: VirtualClock }, result: Promise<T>): Promise<T> {
  const results: T[] = [];
  void result.then((value) => results.push(value));
  while (results.length === 0) await clock.advance(0);
  return result;
}

const letter = (lo: number, uri: string, more: Partial<TimerRecord> = {}): TimerRecord =>
  recordOf({
    hi: 1,
    lo,
    state: State.dead,
    outcome: 503,
    dueMs: lo,
    retryMs: lo,
    triedMs: lo,
    replicas: ['a', 'b'],
    body: encodeDefinition(definitionOf({ uri })),
    ...more,
  });

test('dead letters are counted by the origin of their receiver and by failure', async () => {
  const reader = parts([
    letter(1, 'http://x:1/a'),
    letter(2, 'http://x:1/b?c'),
    letter(3, 'http://x:1', { outcome: Outcome.refused }),
    letter(4, 'http://y/'),
    letter(5, 'http://y/', { namespace: 'other' }),
    letter(6, 'http://y/', { state: State.live }),
  ]);
  const groups = await given(reader, tallyHere(reader, letters));
  expect(new Set(groups)).toEqual(
    new Set([
      { receiver: 'http://x:1', failure: '5xx', count: 2, firstMs: 1, lastMs: 2 },
      { receiver: 'http://x:1', failure: 'refused', count: 1, firstMs: 3, lastMs: 3 },
      { receiver: 'http://y', failure: '5xx', count: 1, firstMs: 4, lastMs: 4 },
    ]),
  );
});

test('a filter leaves the others out', async () => {
  const reader = parts([letter(1, 'http://x/'), letter(2, 'http://y/')]);
  const groups = await given(reader, tallyHere(reader, { ...letters, receiver: 'http://y' }));
  expect(groups).toMatchObject([{ receiver: 'http://y', count: 1 }]);
});

test('the first replica that answers speaks for a record', () => {
  const silent = new Set<string>();
  const peers = { silent: (name: string) => silent.has(name) } as Peers;
  const reader: ReadParts = parts([], peers);
  expect(speaksFor(reader, recordOf({ replicas: ['a', 'b'] }))).toBe(true);
  expect(speaksFor(reader, recordOf({ replicas: ['b', 'a'] }))).toBe(false);
  silent.add('b');
  expect(speaksFor(reader, recordOf({ replicas: ['b', 'a'] }))).toBe(true);
  expect(speaksFor(reader, recordOf({ replicas: ['b', 'c'] }))).toBe(false);
});

test('counts of all members are added up, and members that do not answer are named', async () => {
  const theirs: TallyGroup = {
    receiver: 'http://x',
    failure: '5xx',
    count: 5,
    firstMs: 0,
    lastMs: 9,
  };
  const send: Peers['send'] = (name, _, done) =>
    done(name === 'b' ? { type: 'tally', groups: [theirs] } : null);
  const reader = parts([letter(4, 'http://x/')], { send, silent: () => false } as unknown as Peers);
  const { groups, missing } = await given(
    reader,
    tallyEverywhere(reader, letters, ['a', 'b', 'c']),
  );
  expect(groups).toEqual([{ ...theirs, count: 6 }]);
  expect(missing).toEqual(['c']);
});

test('of very many receivers the last ones are counted together', async () => {
  const many = Array.from({ length: 1100 }, (_, i) => letter(i, `http://x${i}/`));
  const reader = parts(many);
  const groups = await given(reader, tallyHere(reader, letters));
  expect(groups.length).toBe(1001);
  expect(groups.find(({ receiver }) => receiver === '')?.count).toBe(100);
});
