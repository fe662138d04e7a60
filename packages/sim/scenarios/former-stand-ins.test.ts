/** P5 while the one replica of a timer is down: of two members that stood in for it one after the other, one pops. */
import { expect, test } from 'vitest';
import { formerHolder } from './told/former-holder.ts';
import { formerStandIn } from './told/former-stand-ins.ts';
import { mostAreDown } from './told/most-are-down.ts';

test.each([1, 2, 3, 4, 5, 6])(
  'the former stand-in of a replica that is down still knows the present one: every pop is made once (R=1): seed %i',
  async (seed) => {
    expect(await formerStandIn(seed)).toEqual(Array.from({ length: 10 }, (_, i) => i + 1));
  },
);

test.each([1, 2].flatMap((factor) => [1, 2, 3].map((seed) => ({ factor, seed }))))(
  'stand-ins know each other while the list of the view names members that do not answer: every pop is made once: %j',
  async ({ factor, seed }) => {
    expect(await mostAreDown(seed, factor)).toEqual(Array.from({ length: 25 }, (_, i) => i + 1));
  },
);

test.each([1, 2, 3, 4])(
  'a former holder hears of the stand-in that a replace found: the pop is made once (R=1): seed %i',
  async (seed) => {
    expect(await formerHolder(seed)).toEqual([1]);
  },
);
