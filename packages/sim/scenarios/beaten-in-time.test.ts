/** P1 when a net-split heals: a confirmed change is there when the client hears the confirmation. */
import { State } from '@carillon/core';
import { expect, test } from 'vitest';
import { beatenInTime } from './told/beaten-in-time.ts';

test.each([1, 2, 3, 4, 5, 6])(
  'a cancel that an older request beats while it waits is made again, above it, before it is confirmed: seed %i',
  async (seed) => {
    expect(await beatenInTime(seed)).toEqual({ status: 200, state: State.tombstone });
  },
);
