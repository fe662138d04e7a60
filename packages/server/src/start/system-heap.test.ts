import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const module = new URL('./system-heap.ts', import.meta.url).href;

/**
 * Objects of one literal live long at first, and a moment only later on. Prints by how many bytes the old generation
 * grows then.
 */
const script = `
import { getHeapSpaceStatistics } from 'node:v8';
import { beginYoung } from ${JSON.stringify(module)};
beginYoung();
const oldBytes = () => getHeapSpaceStatistics().find((one) => one.space_name === 'old_space').space_used_size;
const kept = new Array(50_000);
const make = (i) => ({ a: i, b: { c: i }, d: [i] });
const round = (keepCount, count) => { for (let i = 0; i < count; i++) kept[i % keepCount] = make(i); };
for (let i = 0; i < 20; i++) round(50_000, 50_000);
const before = oldBytes();
let grown = 0;
for (let i = 0; i < 20; i++) { round(10, 20_000); grown = Math.max(grown, oldBytes() - before); }
console.log(grown);
`;

test('short-lived objects leave no garbage in the old generation, where others of their kind lived long before', async () => {
  const flags = ['--no-warnings', '--max-semi-space-size=1', '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  expect(Number(stdout)).toBeLessThan(6_000_000);
}, 60_000);

/** Batch after batch, each of which lives for a while. Prints the largest size of the young generation, in MiB. */
const batches = `
import { getHeapSpaceStatistics } from 'node:v8';
import { setImmediate as turn } from 'node:timers/promises';
import { beginYoung } from ${JSON.stringify(module)};
beginYoung();
const youngBytes = () => getHeapSpaceStatistics().find((one) => one.space_name === 'new_space').space_size;
const kept = new Array(40_000);
let most = 0;
for (let i = 0; i < 400; i++) {
  for (let j = 0; j < 10_000; j++) kept[(i * 10_000 + j) % kept.length] = { a: i, b: [j, i], c: { j } };
  await turn();
  most = Math.max(most, youngBytes());
}
console.log(most / 2 ** 20);
`;

test.runIf(process.versions.node.startsWith('24.'))(
  'the young generation stays within 32 MiB under batches that live for a while',
  async () => {
    const flags = ['--no-warnings', '--input-type=module', '-e', batches];
    const { stdout } = await promisify(execFile)(process.execPath, flags);
    expect(Number(stdout)).toBeLessThanOrEqual(32);
    // V8 would go up to 128.
    expect(Number(stdout)).toBeGreaterThan(4);
  },
  60_000,
);
