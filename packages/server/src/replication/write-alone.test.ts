import { Deadlines, type TimerRecord } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import { expect, it } from 'vitest';
import { View } from '../cluster/view/view.ts';
import { memberOf, replicaOf } from '../testing/quiet-members.ts';
import { recordOf } from '../testing/records.ts';
import type { StoreMode } from './wire/message.ts';
import { hedgeMs, type WriteResult, write } from './write.ts';

const record = recordOf({ replicas: ['a'], factor: 2 });

/** The results of a second write, after a first one, at a member without others. */
function second(change: Partial<TimerRecord>, mode: StoreMode): WriteResult[] {
  const clock = new VirtualClock();
  const view = new View({ source: 'test', revision: 1, members: [memberOf('a')] });
  const replica = replicaOf({ clock, desired: () => ['a'] });
  const hedges = new Deadlines(clock, hedgeMs);
  const onUnconfirmed = (): void => {
    throw new Error('There is no other member to confirm it.');
  };
  const parts = { self: 'a', clock, hedges, replica, peers: null, view: () => view, onUnconfirmed };
  const results: WriteResult[] = [];
  write(parts, { record, mode: 'create', former: [] }, () => {});
  const next = { record: { ...record, ...change }, mode, former: [] };
  write(parts, next, (result) => results.push(result));
  return results;
}

it.each([
  [
    'a newer one is confirmed',
    { versionMs: 2000 },
    'any',
    { type: 'confirmed', have: 1, wanted: 1 },
  ],
  ['the same one again is confirmed', {}, 'any', { type: 'confirmed', have: 1, wanted: 1 }],
  ['an older one meets a newer', { versionMs: 500 }, 'any', { type: 'have' }],
  ['a number that is taken is not given again', { versionMs: 2000 }, 'create', { type: 'have' }],
  [
    'that of another namespace is refused',
    { namespace: 'x' },
    'any',
    { type: 'refused', why: 'namespace' },
  ],
] as const)('alone: %s', (_, change, mode, expected) => {
  expect(second(change, mode)).toMatchObject([expected]);
});
