import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
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
