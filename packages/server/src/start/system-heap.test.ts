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
