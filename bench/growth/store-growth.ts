/**
 * The cost of a store operation as the store grows: in a process of its own, so that ten million records disturb
 * nothing else.
 */
import type { TimerRecord } from '@carillon/core';
import { SeededRandom } from '@carillon/core/testing';
import { Store } from '../../packages/server/src/store/store.ts';
import { recordOf } from '../micro/records.ts';
import { answerCalls } from '../support/remote.ts';

export interface StoreCosts {
  readonly count: number;
  /** Nanoseconds of CPU each. */
  readonly setNs: number;
  readonly replaceNs: number;
  readonly popNs: number;
  readonly cancelNs: number;
  /** Resident memory a record, with its alarm. */
  readonly bytes: number;
}

const operationCount = 100_000;
/** Pops are due within a minute; each measurement takes the next one. */
const popSpanMs = 60_000;
const roundCount = 3;

let popsFromMs = 0;

answerCalls({ run: (countMax: number) => grow(countMax) });

function grow(countMax: number): StoreCosts[] {
  // A first round warms the code and grows the heap, so that neither counts as the store's.
  measure(filled(new Store(), 0, 100_000), 100_000);
  settleMemory();
  const beforeBytes = process.memoryUsage().rss;
  const store = new Store();
  popsFromMs = 0;
  const all: StoreCosts[] = [];
  for (let from = 0, count = 1000; count <= countMax; from = count, count *= 10) {
    filled(store, from, count);
    settleMemory();
    const bytes = (process.memoryUsage().rss - beforeBytes) / count;
    const rounds = Array.from({ length: roundCount }, () => measure(store, count));
    const least = (key: keyof Costs): number => Math.min(...rounds.map((costs) => costs[key]));
    all.push({
      count,
      setNs: least('setNs'),
      replaceNs: least('replaceNs'),
      popNs: least('popNs'),
      cancelNs: least('cancelNs'),
      bytes,
    });
  }
  return all;
}

function filled(store: Store, from: number, to: number): Store {
  for (let i = from; i < to; i++) {
    const record = recordOf(i);
    store.arm(store.put(record), record.dueMs);
  }
  return store;
}

type Costs = Record<'setNs' | 'replaceNs' | 'popNs' | 'cancelNs', number>;

/** On records picked at random; the store is as before afterwards. */
function measure(store: Store, count: number): Costs {
  const random = new SeededRandom(count);
  const present = Array.from({ length: operationCount }, () =>
    recordOf(random.between(0, count - 1)),
  );
  const added = present.map((_, i) => recordOf(1_000_000_000 + i));
  const setNs = timed(() => {
    for (const record of added) store.arm(store.put(record), record.dueMs);
  });
  const replaceNs = timed(() => {
    for (const record of present) store.arm(store.put(record), record.dueMs);
  });
  const popNs = popping(store, added, random);
  const cancelNs = timed(() => {
    for (const { hi, lo } of added) store.remove(hi, lo);
  });
  return { setNs, replaceNs, popNs, cancelNs };
}

/** Earlier measurements have moved the store's time on; no other record is due within the span. */
function popping(store: Store, records: readonly TimerRecord[], random: SeededRandom): number {
  const fromMs = popsFromMs;
  popsFromMs += popSpanMs;
  for (const { hi, lo } of records) {
    store.arm(store.find(hi, lo), fromMs + random.between(1, popSpanMs - 1));
  }
  const out: number[] = [];
  return timed(() => {
    let taken = 0;
    while (taken < operationCount) {
      out.length = 0;
      taken += store.takeDue(popsFromMs, 1024, out);
    }
  });
}

function timed(work: () => void): number {
  const started = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(started);
  return ((user + system) * 1000) / operationCount;
}

function settleMemory(): void {
  for (let i = 0; i < 3; i++) globalThis.gc?.();
}
