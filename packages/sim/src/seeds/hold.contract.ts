/** Tests of seeds: situations that no written scenario covers. `npm run sim -- --seeds 10000` runs more of them. */
import { describe, expect, test } from 'vitest';
import { drawPlan, wholePlan } from '../plan.ts';
import { report } from '../report.ts';
import { runPlan } from '../run.ts';

const perTest = 5;

/**
 * Defines tests of `count` seeds, of ten virtual minutes each. Several files share the seeds, so that all cores work.
 */
export function promisesHold(from: number, count: number): void {
  const firsts = Array.from({ length: count / perTest }, (_, i) => from + i * perTest);
  describe('no promise is broken', () => {
    test.each(firsts)(`in ${perTest} seeds from %d on`, async (first) => {
      const failures: string[] = [];
      for (let seed = first; seed < first + perTest; seed++) {
        const result = await runPlan(drawPlan(seed, wholePlan));
        if (result.violations.length > 0) failures.push(report(result, wholePlan));
      }
      expect(failures.join('\n')).toBe('');
    });
  });
}
