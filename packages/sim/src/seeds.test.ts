/** Seeds: situations that no written scenario covers. `npm run sim -- --seeds 10000` runs more of them. */
import { describe, expect, test } from 'vitest';
import { drawPlan, wholePlan } from './plan.ts';
import { report } from './report.ts';
import { runPlan } from './run.ts';

/** Seeds, of ten virtual minutes each. Raise it on a machine with time. */
const seedCount = 200;
const perTest = 20;

describe('no promise is broken', () => {
  const firsts = Array.from({ length: seedCount / perTest }, (_, i) => 1 + i * perTest);
  test.each(firsts)(`in ${perTest} seeds from %d on`, { timeout: 600_000 }, async (first) => {
    const failures: string[] = [];
    for (let seed = first; seed < first + perTest; seed++) {
      const result = await runPlan(drawPlan(seed, wholePlan));
      if (result.violations.length > 0) failures.push(report(result, wholePlan));
    }
    expect(failures.join('\n')).toBe('');
  });
});

describe('one seed decides everything', () => {
  test.each([3, 7, 11])('seed %d twice: the traces are equal, byte for byte', async (seed) => {
    const options = { ...wholePlan, minutes: 6 };
    const first = await runPlan(drawPlan(seed, options), { trace: true });
    const second = await runPlan(drawPlan(seed, options), { trace: true });
    expect(second.lines.join('\n')).toBe(first.lines.join('\n'));
    expect(second.hash).toBe(first.hash);
    expect(first.lines.length).toBeGreaterThan(100);
  });

  test('two seeds give two traces', async () => {
    const options = { ...wholePlan, minutes: 5 };
    const [one, two] = [await runPlan(drawPlan(3, options)), await runPlan(drawPlan(4, options))];
    expect(one.hash).not.toBe(two.hash);
  });
});
