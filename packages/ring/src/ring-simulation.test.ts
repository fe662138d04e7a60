import { describe, expect, test } from 'vitest';
import { type SimulationResult, simulate } from './testing/ring-simulation.ts';

/** A failing seed prints itself; `simulate({ seed })` replays it exactly. */
async function failing(from: number, count: number): Promise<string[]> {
  const failures: string[] = [];
  for (let seed = from; seed < from + count; seed++) {
    const { violations } = await simulate({ seed });
    if (violations.length > 0) failures.push(`seed ${seed}: ${violations[0]}`);
  }
  return failures;
}

describe('ring in the simulator', () => {
  test.each([0, 500, 1000, 1500])(
    'no two believers, growing tokens, everything owned again, nothing left (500 seeds from %i)',
    async (from) => {
      expect(await failing(from, 500)).toEqual([]);
    },
    120_000,
  );

  test('the faults bite: locks are granted, and some are lost', async () => {
    const runs: SimulationResult[] = [];
    for (let seed = 0; seed < 40; seed++) runs.push(await simulate({ seed }));
    const sum = (pick: (run: SimulationResult) => number): number =>
      runs.reduce((total, run) => total + pick(run), 0);
    expect(sum((run) => run.grants)).toBeGreaterThan(500);
    expect(sum((run) => run.losses)).toBeGreaterThan(20);
    expect(sum((run) => run.faults)).toBeGreaterThan(300);
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
});
