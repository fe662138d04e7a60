/** P5 while a member drains: it is in the middle of a pop when the timer goes to another member, which holds back. */
import { expect, test } from 'vitest';
import { drainedWhileCalling } from './told/drained-while-calling.ts';

const seeds = [1, 2, 3, 4, 5, 6];

test.each(seeds)(
  'the pops that fell due during its call are made once (R=2): seed %i',
  async (seed) => {
    const wish = { seconds: 0.25, times: 60, factor: 2 };
    const sequences = await drainedWhileCalling(seed, wish, 5);
    expect(sequences).toEqual([...new Set(sequences)]);
    expect(sequences.at(-1)).toBe(60);
  },
);

test.each(seeds)(
  'its successor asks it before the pop, though it is given no timers any more: the pop is made once (R=1): seed %i',
  async (seed) => {
    const wish = { seconds: 5, times: 3, factor: 1 };
    expect(await drainedWhileCalling(seed, wish, 5.5)).toEqual([1, 2, 3]);
  },
);
