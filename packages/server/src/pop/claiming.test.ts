import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { recordOf } from '../testing/records.ts';
import { Claiming, type ClaimingParts } from './claiming.ts';
import type { Pop } from './pop.ts';

test('a claim holds until its end, and always where no other replica was asked', async () => {
  const clock = new VirtualClock();
  const claiming = new Claiming(1, { clock } as unknown as ClaimingParts);
  const pop = (others: readonly string[]): Pop =>
    ({ others, untilMs: clock.now() + 1000 }) as unknown as Pop;
  const [asked, alone] = [pop(['b']), pop([])];
  await clock.advance(999);
  expect(claiming.heldAtMs(asked)).toBe(clock.now());
  await clock.advance(1);
  expect([claiming.heldAtMs(asked), claiming.heldAtMs(alone)]).toEqual([null, clock.now()]);
});

test.each([
  ['was due before it came here: until then its holder was away', -10, []],
  ['came here in time', 1000, ['unopposed']],
])('a silent replica is waited for where the record %s', async (_, dueInMs, expected) => {
  const clock = new VirtualClock();
  await clock.advance(60_000);
  const events: string[] = [];
  const claiming = new Claiming(1, {
    clock,
    self: 'a',
    awake: { sleepOf: () => 'no' },
    peers: { silent: () => true, stillSinceMs: () => null, send: () => undefined },
    claimantOf: () => null,
    happens: (__: Pop, event: string) => events.push(event),
  } as unknown as ClaimingParts);
  const dueMs = clock.now() + dueInMs;
  const record = recordOf({ replicas: ['a', 'b'], dueMs, retryMs: dueMs, gapMs: 30_000 });
  claiming.changed(7, record);
  const pop = { handle: 7, record, others: ['b'], phase: 'claiming', rounds: 0, askedMs: null };
  claiming.ask(pop as unknown as Pop);
  expect(events).toEqual(expected);
});
