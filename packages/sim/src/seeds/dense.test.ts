/** Seeds whose timers lie within seconds of their faults. */
import { expect, test } from 'vitest';
import { drawPlan, wholePlan } from '../plan.ts';
import { runPlan } from '../run.ts';

test('no promise is broken in 5 dense plans', async () => {
  for (let seed = 1; seed <= 5; seed++) {
    const plan = drawPlan(seed, { ...wholePlan, dense: true });
    expect((await runPlan(plan)).violations).toEqual([]);
  }
});
