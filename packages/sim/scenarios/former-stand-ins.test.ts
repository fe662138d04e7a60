/** P5 while the one replica of a timer is down: of two members that stood in for it one after the other, one pops. */
import { expect, test } from 'vitest';
import { formerStandIn } from './told/former-stand-ins.ts';

test.each([1, 2, 3, 4, 5, 6])(
  'the former stand-in of a replica that is down still knows the present one: every pop is made once (R=1): seed %i',
  async (seed) => {
    expect(await formerStandIn(seed)).toEqual(Array.from({ length: 10 }, (_, i) => i + 1));
  },
);
