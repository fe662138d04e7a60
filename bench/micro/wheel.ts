/**
 * The wheel alone: how many entries a second can be set and cancelled, and how many can be drained; beside it the same
 * with setTimeout, and the least that any wheel must do, which is to link and unlink an entry in a slot.
 */
import { SeededRandom } from '@carillon/core/testing';
import { Wheel } from '../../packages/server/src/store/wheel.ts';

const entryCount = 1_000_000;
const roundCount = 5;

export async function run(report: (line: string) => void, share = 1) {
  const rounds = Math.max(1, Math.round(roundCount * share));
  const results = Array.from({ length: rounds }, (_, round) => ({
    setAndCancel: setAndCancel(round),
    timeouts: timeouts(round),
    links: links(round),
    drainMinute: drain(round, 60_000),
    drainHour: drain(round, 3_600_000),
  }));
  const best = {
    timeoutsPerSecond: Math.max(...results.map((one) => one.timeouts)),
    linksPerSecond: Math.max(...results.map((one) => one.links)),
    setAndCancelPerSecond: Math.max(...results.map((one) => one.setAndCancel)),
    drainMinutePerSecond: Math.max(...results.map((one) => one.drainMinute)),
    drainHourPerSecond: Math.max(...results.map((one) => one.drainHour)),
  };
  report(`wheel: set + cancel ${millions(best.setAndCancelPerSecond)}`);
  report(`wheel: the same with setTimeout and clearTimeout ${millions(best.timeoutsPerSecond)}`);
  report(`wheel: bare linking and unlinking in slots ${millions(best.linksPerSecond)}`);
  report(`wheel: drain, due within a minute ${millions(best.drainMinutePerSecond)}`);
  report(`wheel: drain, due within an hour ${millions(best.drainHourPerSecond)}`);
  return best;
}

/** Each timer is set for a random time within an hour and cancelled when 100,000 later ones are set. */
function setAndCancel(seed: number): number {
  const dues = randomDues(seed, 3_600_000);
  const wheel = new Wheel();
  wheel.advance(0, 1, []);
  const startUs = process.threadCpuUsage().user;
  for (let i = 0; i < entryCount; i++) {
    wheel.insert(i % 100_000, dues[i] as number);
    if (i >= 50_000) wheel.remove((i - 50_000) % 100_000);
  }
  return perSecond(startUs);
}

/** The same with Node's own timers. */
function timeouts(seed: number): number {
  const dues = randomDues(seed, 3_600_000);
  const set: NodeJS.Timeout[] = [];
  const pop = (): void => {};
  const startUs = process.threadCpuUsage().user;
  for (let i = 0; i < entryCount; i++) {
    set[i % 100_000] = setTimeout(pop, dues[i]);
    if (i >= 50_000) clearTimeout(set[(i - 50_000) % 100_000]);
  }
  const rate = perSecond(startUs);
  for (const timeout of set) clearTimeout(timeout);
  return rate;
}

/** Doubly linked lists in typed arrays, without tiers, occupancy or growth. */
function links(seed: number): number {
  const dues = randomDues(seed, 3_600_000);
  const heads = new Int32Array(384).fill(-1);
  const next = new Int32Array(100_000).fill(-1);
  const previous = new Int32Array(100_000).fill(-1);
  const slots = new Int32Array(100_000);
  const startUs = process.threadCpuUsage().user;
  for (let i = 0; i < entryCount; i++) {
    const entry = i % 100_000;
    const slot = ((dues[i] as number) % 384) | 0;
    const head = heads[slot] as number;
    next[entry] = head;
    previous[entry] = -1;
    if (head !== -1) previous[head] = entry;
    heads[slot] = entry;
    slots[entry] = slot;
    if (i >= 50_000) unlink((i - 50_000) % 100_000);
  }
  return perSecond(startUs);

  function unlink(entry: number): void {
    const after = next[entry] as number;
    const before = previous[entry] as number;
    if (before === -1) heads[slots[entry] as number] = after;
    else next[before] = after;
    if (after !== -1) previous[after] = before;
  }
}

/** All have fallen due and come out 1,024 at a time, in order; setting them is not counted. */
function drain(seed: number, spanMs: number): number {
  const dues = randomDues(seed, spanMs);
  const wheel = new Wheel();
  wheel.advance(0, 1, []);
  for (let i = 0; i < entryCount; i++) wheel.insert(i, dues[i] as number);
  const out: number[] = [];
  let taken = 0;
  const startUs = process.threadCpuUsage().user;
  while (wheel.size > 0) {
    out.length = 0;
    taken += wheel.advance(spanMs, 1024, out);
  }
  if (taken !== entryCount)
    throw new Error(`The wheel handed out ${taken} of ${entryCount} entries.`);
  return perSecond(startUs);
}

function randomDues(seed: number, spanMs: number): Float64Array {
  const random = new SeededRandom(seed);
  return Float64Array.from({ length: entryCount }, () => random.unit() * spanMs);
}

/** By the CPU of this thread: other work on the machine does not count. */
function perSecond(startUs: number): number {
  return Math.round((entryCount / (process.threadCpuUsage().user - startUs)) * 1e6);
}

function millions(perSecondCount: number): string {
  return `${(perSecondCount / 1e6).toFixed(1)} M/s`;
}
