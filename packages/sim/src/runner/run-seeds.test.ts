/** Many seeds on several threads: the same results in the same order as on one. */
import { expect, test } from 'vitest';
import { wholePlan } from '../plan.ts';
import { jobsFor, runSeeds } from './run-seeds.ts';

const job = { options: { ...wholePlan, minutes: 1 }, trace: false, broken: null };
const range = { first: 21, count: 3 };

async function told(jobs: number, seedsMax: number): Promise<string[]> {
  const lines: string[] = [];
  await runSeeds(range, jobs, job, async ({ plan, hash, events }) => {
    lines.push(`${plan.seed} ${hash} ${events}`);
    return lines.length < seedsMax;
  });
  return lines;
}

test('two threads give the same report as one, in the order of the seeds, and none after the listener has heard enough', async () => {
  const alone = await told(1, 2);
  expect(alone.map((line) => line.split(' ')[0])).toEqual(['21', '22']);
  expect(await told(2, 2)).toEqual(alone);
});

test('the members are broken on every thread when a variant is asked for', async () => {
  // Seed 17 breaks no promise with nothing broken: `../seeds/seeds-16-30.test.ts`.
  let count = 0;
  const seventeen = { first: 17, count: 1 };
  const broken = { ...job, options: wholePlan, broken: 'no claim' };
  await runSeeds(seventeen, 2, broken, async ({ violations }) => {
    count += violations.length;
    return true;
  });
  expect(count).toBeGreaterThan(0);
});

test.each([
  [1, 8, 1],
  [19, 8, 1],
  [20, 8, 2],
  [35, 8, 3],
  [20_000, 8, 8],
])('%d seeds on %d cores: %d threads', (count, cores, jobs) => {
  expect(jobsFor(count, cores)).toBe(jobs);
});
