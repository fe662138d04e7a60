/** Tests of simulated rings: a failing seed prints itself, and `simulate({ seed })` replays it exactly. */
import { expect, test } from 'vitest';
import { simulate } from '../testing/ring-simulation.ts';

const perTest = 100;

/** Defines tests of `count` seeds. Several files share the seeds, so that all cores work. */
export function ringsHold(from: number, count: number): void {
  const firsts = Array.from({ length: count / perTest }, (_, i) => from + i * perTest);
  test.each(firsts)(
    `no two believers, growing tokens, everything owned again, nothing left (${perTest} seeds from %i)`,
    async (first) => {
      const failures: string[] = [];
      for (let seed = first; seed < first + perTest; seed++) {
        const { violations } = await simulate({ seed });
        if (violations.length > 0) failures.push(`seed ${seed}: ${violations[0]}`);
      }
      expect(failures).toEqual([]);
    },
  );
}
