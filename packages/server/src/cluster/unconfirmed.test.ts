import type { TimerRecord } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import type { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import type { Answer } from '../replication/wire/answer.ts';
import type { Message, StoreMode } from '../replication/wire/message.ts';
import { recordOf } from '../testing/records.ts';
import { Unconfirmed } from './unconfirmed.ts';

/**
 * A member with one record that `b` has not confirmed, and the answer of `b` when the record is sent again; 'lost':
 * none comes for a while. `answers`: whether `b` answers other messages. `read`: its answer when it is asked for its
 * own record.
 */
function create(answer: Answer | null | 'lost', answers = true, read: Answer | null = null) {
  const clock = new VirtualClock();
  const told: string[] = [];
  const owed: ((answer: Answer | null) => void)[] = [];
  const peers = {
    silent: () => false,
    answeredSince: () => answers,
    send: (name: string, { type }: Message, done: (answer: Answer | null) => void) => {
      told.push(name);
      if (type === 'read') done(read);
      else if (answer === 'lost') owed.push(done);
      else done(answer);
    },
  } as unknown as Peers;
  const received: string[] = [];
  const replica = {
    get: () => recordOf({}),
    receive: ({ sequence }: TimerRecord, _: StoreMode, done: () => void) => {
      received.push(`${sequence}`);
      done();
    },
  } as unknown as Replica;
  const unconfirmed = new Unconfirmed({
    clock,
    replica,
    peers,
    onOverflow: () => {},
    onSent: () => {},
  });
  unconfirmed.add('b', { hi: 1, lo: 2 });
  return { unconfirmed, told, received, owed, clock };
}

test.each<[string, Answer | null, number]>([
  ['has it now', { type: 'stored' }, 0],
  ['will never take it', { type: 'refused', why: 'namespace' }, 0],
  ['has no room on its disk', { type: 'refused', why: 'full' }, 1],
  ['does not answer', null, 1],
])('a peer that %s', (_, answer, left) => {
  const { unconfirmed, told } = create(answer);
  unconfirmed.pushAll();
  expect([told, unconfirmed.size]).toEqual([['b'], left]);
  unconfirmed.pushAll();
  expect(told).toHaveLength(1 + left);
});

/** Found by dense plan 731908117: no other member knew that this one lacked a cancel. */
test.each<[string, Answer | null, string[], number]>([
  ['gives it', { type: 'record', record: recordOf({ sequence: 7 }) }, ['7'], 0],
  ['has it no more', { type: 'record', record: null }, [], 0],
  ['does not answer', null, [], 1],
])('a peer that has something newer is asked for it, and %s', (_, read, taken, left) => {
  const { unconfirmed, told, received } = create(
    { type: 'have', progress: recordOf({}) },
    true,
    read,
  );
  unconfirmed.pushAll();
  expect([told, received, unconfirmed.size]).toEqual([['b', 'b'], taken, left]);
});

/** Found by plan 50002478 of a denser search: for 5 s the peer popped a timer that had been replaced. */
test('a peer that answers other messages and not this one is sent it again after 1, 2, 4, 5, 5 s', async () => {
  const { unconfirmed, told, clock } = create('lost');
  unconfirmed.pushAll();
  const atMs: number[] = [];
  for (let ms = 1; ms <= 18_000; ms++) {
    const before = told.length;
    await clock.advance(1);
    if (told.length > before) atMs.push(ms);
  }
  expect(atMs).toEqual([1000, 3000, 7000, 12_000, 17_000]);
});

test('an answer that comes late still counts, and ends the repetition', async () => {
  const { unconfirmed, told, owed, clock } = create('lost');
  unconfirmed.pushAll();
  await clock.advance(1500);
  owed[0]?.({ type: 'stored' });
  expect(unconfirmed.size).toBe(0);
  await clock.advance(30_000);
  expect(told).toHaveLength(2);
});

test('a record that changes while it is on its way is sent once more after the answer', () => {
  const { unconfirmed, told, owed } = create('lost');
  unconfirmed.pushAll();
  unconfirmed.add('b', { hi: 1, lo: 2 });
  owed[0]?.({ type: 'stored' });
  expect([told.length, unconfirmed.size]).toEqual([2, 1]);
});

test('a peer that answers nothing is not sent more', async () => {
  const { unconfirmed, told, clock } = create('lost', false);
  unconfirmed.pushAll();
  await clock.advance(20_000);
  expect(told).toHaveLength(1);
});
