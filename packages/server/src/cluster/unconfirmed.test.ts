import { expect, test } from 'vitest';
import type { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import type { Answer } from '../replication/wire/answer.ts';
import { recordOf } from '../testing/records.ts';
import { Unconfirmed } from './unconfirmed.ts';

/** A member with one record that `b` has not confirmed, and the answer of `b` when the record is sent again. */
function create(answer: Answer | null) {
  const told: string[] = [];
  const peers = {
    silent: () => false,
    send: (name: string, _: unknown, done: (answer: Answer | null) => void) => {
      told.push(name);
      done(answer);
    },
  } as unknown as Peers;
  const replica = { get: () => recordOf({}) } as unknown as Replica;
  const unconfirmed = new Unconfirmed({ replica, peers, onOverflow: () => {}, onSent: () => {} });
  unconfirmed.add('b', { hi: 1, lo: 2 });
  return { unconfirmed, told };
}

test.each<[string, Answer | null, number]>([
  ['has it now', { type: 'stored' }, 0],
  ['has something newer', { type: 'have', progress: recordOf({}) }, 0],
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
