/**
 * Records in a Store, each with an alarm: memory per record as the operating system counts it, and what
 * each operation costs from a thousand records up. Ten million, by hand:
 *   node --conditions=source --expose-gc -e "import('./bench/store.ts').then((b) => b.run(console.log, 1e7))"
 */
import { SeededRandom } from '@carillon/core/testing';
import { Store } from '../packages/server/src/store/store.ts';
import { recordOf } from './records.ts';

const operationCount = 200_000;

export async function run(
  report: (line: string) => void,
  countMax = 1_000_000,
): Promise<Record<string, unknown>> {
  // What making records costs the heap once shall not count as the store's.
  fill(new Store(), 100_000);
  settleMemory();
  const before = process.memoryUsage().rss;
  const largest = new Store();
  const slowestMs = fill(largest, countMax);
  settleMemory();
  const bytesPerRecord = Math.round((process.memoryUsage().rss - before) / countMax);
  report(`store: ${bytesPerRecord} bytes of RSS per record, with its alarm, at ${countMax}`);
  report(`store: slowest 100 puts while it grew ${slowestMs.toFixed(2)} ms of CPU`);
  const results: Record<string, unknown> = { bytesPerRecord, slowestMs };
  for (let count = 1000; count < countMax; count *= 10) {
    const store = new Store();
    fill(store, count);
    results[`at ${count}`] = show(store, count, report);
  }
  results[`at ${countMax}`] = show(largest, countMax, report);
  return results;
}

/** Adds `count` records with their alarms; the slowest hundred, in milliseconds of this thread's CPU. */
function fill(store: Store, count: number): number {
  let slowest = 0;
  for (let i = 0; i < count; ) {
    const started = process.threadCpuUsage().user;
    for (const end = i + 100; i < end; i++) {
      const record = recordOf(i);
      store.arm(store.put(record), record.dueMs);
    }
    slowest = Math.max(slowest, process.threadCpuUsage().user - started);
  }
  return slowest / 1000;
}

function show(store: Store, count: number, report: (line: string) => void) {
  const costs = measure(store, count);
  const { putNs, getNs, replaceNs, removeNs } = costs;
  report(
    `store: at ${count} records, CPU of put ${putNs} ns, get ${getNs} ns, replace ${replaceNs} ns, remove ${removeNs} ns`,
  );
  return costs;
}

/** Nanoseconds each, on records picked at random; the store is as before afterwards. */
function measure(store: Store, count: number) {
  const random = new SeededRandom(count);
  const picked = Array.from({ length: operationCount }, () => random.between(0, count - 1));
  const present = picked.map(recordOf);
  const added = picked.map((_, i) => recordOf(1_000_000_000 + i));
  const putNs = timed(() => {
    for (const record of added) store.arm(store.put(record), record.dueMs);
  });
  const removeNs = timed(() => {
    for (const { hi, lo } of added) store.remove(hi, lo);
  });
  const getNs = timed(() => {
    for (const { hi, lo } of present) store.get(hi, lo);
  });
  const replaceNs = timed(() => {
    for (const record of present) store.arm(store.put(record), record.dueMs);
  });
  return { putNs, getNs, replaceNs, removeNs };
}

function timed(work: () => void): number {
  const started = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(started);
  return Math.round(((user + system) * 1000) / operationCount);
}

function settleMemory(): void {
  for (let i = 0; i < 3; i++) globalThis.gc?.();
}
