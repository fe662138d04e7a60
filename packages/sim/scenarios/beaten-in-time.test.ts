/** P1 when a net-split heals: a confirmed change is there when the client hears the confirmation. */
import { State } from '@carillon/core';
import { expect, test } from 'vitest';
import { askedForTwice } from './told/asked-for-twice.ts';
import { beatenInTime } from './told/beaten-in-time.ts';

test.each([1, 2, 3, 4, 5, 6])(
  'a cancel that an older request beats while it waits is made again, above it, before it is confirmed: seed %i',
  async (seed) => {
    expect(await beatenInTime(seed)).toEqual({ status: 200, state: State.tombstone });
  },
);

/** Found by seed 50002665 of a denser search. */
test.each([20, 300, 900, 1500, 2500])(
  'a replace that a client asks for twice at one member, in vain, does not undo the next one: confirmed, it stays: %d ms later',
  async (afterMs) => {
    const confirmed = { seconds: 1, status: 200, had: ['new', 'new'] };
    expect(await askedForTwice(afterMs)).toEqual(confirmed);
  },
);
