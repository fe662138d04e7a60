/**
 * P4: "A timer set for n pops by 2n while any replica of it is alive." Here timers change hands while their pops are
 * due.
 */
import { expect, test } from 'vitest';
import { givenAwayWhileDue } from './told/given-away-while-due.ts';
import { handedToAStarter } from './told/handed-to-a-starter.ts';

/** Found by seed 866905179. */
test.each([8.4, 8.7, 8.95])(
  'a stand-in gives a timer back while its pop is due, and the replicas stand still: it keeps its copy, and pops by 2n (R=2, n=3 s, %d s)',
  async (standsS) => {
    expect(await givenAwayWhileDue(standsS)).toBeLessThanOrEqual(12);
  },
);

/** Found by seed 1302110217. */
test.each([200, 720, 760, 765, 800])(
  'a replica that has just started, and waits for news, is handed timers whose pops are due: they come by 2n (R=1, n=250 ms, %d ms)',
  async (startMs) => {
    expect(await handedToAStarter(startMs)).toBeLessThanOrEqual(0);
  },
);
