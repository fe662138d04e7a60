/** The wheel alone: how many entries a second can be set and cancelled, and how many can be drained. */
import { SeededRandom } from '@carillon/core/testing';
import { Wheel } from '../packages/server/src/store/wheel.ts';

const entryCount = 1_000_000;
const rounds = 5;

export async function run(report: (line: string) => void): Promise<Record<string, unknown>> {
  const results = Array.from({ length: rounds }, (_, round) => ({
    setAndCancel: setAndCancel(round),
    drainMinute: drain(round, 60_000),
    drainHour: drain(round, 3_600_000),
  }));
  const best = {
    setAndCancelPerSecond: Math.max(...results.map((one) => one.setAndCancel)),
    drainMinutePerSecond: Math.max(...results.map((one) => one.drainMinute)),
    drainHourPerSecond: Math.max(...results.map((one) => one.drainHour)),
  };
  report(`wheel: set + cancel ${millions(best.setAndCancelPerSecond)}`);
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
