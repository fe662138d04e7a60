import { expect, test } from 'vitest';
import { drawPlan, wholePlan } from '../plan.ts';
import { runPlan } from '../run.ts';

const options = { ...wholePlan, minutes: 5 };

test.each([3, 7])('seed %d twice: the traces are equal, byte for byte', async (seed) => {
  const first = await runPlan(drawPlan(seed, options), { trace: true });
  const second = await runPlan(drawPlan(seed, options), { trace: true });
  expect(second.lines.join('\n')).toBe(first.lines.join('\n'));
  expect(second.hash).toBe(first.hash);
  expect(first.lines.length).toBeGreaterThan(100);
});

test('two seeds give two traces', async () => {
  const [one, two] = [await runPlan(drawPlan(3, options)), await runPlan(drawPlan(4, options))];
  expect(one.hash).not.toBe(two.hash);
});
