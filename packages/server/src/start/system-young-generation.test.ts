import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { isSized } from './system-young-generation.ts';

const script = (bytesMax: string): string => `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { boundYoungGeneration } from './system-young-generation.ts';
  const isYoung = ({ space_name }) => space_name === 'new_space';
  const stop = boundYoungGeneration(${bytesMax});
  const kept = [];
  let most = 0;
  for (let turn = 0; turn < 400; turn++) {
    for (let i = 0; i < 10_000; i++) kept[(turn * 10_000 + i) % 150_000] = { i, list: [turn] };
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, getHeapSpaceStatistics().find(isYoung).space_size);
  }
  stop();
  console.log(most / 2 ** 20);
`;

/** MiB of the young generation, at most, in a process of its own. */
async function most(bytesMax: string): Promise<number> {
  const args = ['--conditions=source', '--input-type=module-typescript', '-e', script(bytesMax)];
  const cwd = join(import.meta.dirname);
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, env: {} });
  return Number(stdout);
}

test('the young generation does not grow over its bound, as it does without one', async () => {
  const [within, without] = [await most('8 * 2 ** 20'), await most('Infinity')];
  expect(within).toBeGreaterThanOrEqual(4);
  // While V8 marks, or before the look after a collection, it may have twice its bound.
  expect(within).toBeLessThan(24);
  expect(without).toBeGreaterThan(24);
});

test.each([
  [[], undefined, false],
  [['--conditions=source'], '--enable-source-maps', false],
  [['--max-semi-space-size=64'], undefined, true],
  [[], '--max_semi_space_size=64', true],
])('flags %j and options %s: a size is set: %s', (flags, options, expected) => {
  expect(isSized(flags, options)).toBe(expected);
});
