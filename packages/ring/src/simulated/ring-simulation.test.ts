import { expect, test } from 'vitest';
import { type SimulationResult, simulate } from '../testing/ring-simulation.ts';

test('the faults bite: locks are granted, and some are lost', async () => {
  const runs: SimulationResult[] = [];
  for (let seed = 0; seed < 40; seed++) runs.push(await simulate({ seed }));
  const sum = (pick: (run: SimulationResult) => number): number =>
    runs.reduce((total, run) => total + pick(run), 0);
  expect(sum((run) => run.grants)).toBeGreaterThan(250);
  expect(sum((run) => run.losses)).toBeGreaterThan(10);
  expect(sum((run) => run.faults)).toBeGreaterThan(150);
});

test('without a margin two processes believe at once, and the checker sees it', async () => {
  const found: string[] = [];
  for (let seed = 0; seed < 400 && found.length === 0; seed++) {
    const { violations } = await simulate({ seed, marginMs: 0 });
    found.push(...violations.filter((line) => line.includes('belief')));
  }
  expect(found.length).toBeGreaterThan(0);
});

test('the same seed gives the same run, to the last event', async () => {
  for (const seed of [3, 67, 324]) {
    const first = await simulate({ seed });
    const second = await simulate({ seed });
    expect(second.trace).toEqual(first.trace);
  }
});
