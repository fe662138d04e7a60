/** CPU time of small calls, side by side in one run, and how evenly and how steadily a picker places keys. */
import type { Keys, Picker } from './placement-rivals.ts';

const roundMs = 40;
const roundCountMax = 7;

export interface Contender {
  readonly name: string;
  readonly call: (i: number) => void;
}

/** Calls per second of CPU time. Rounds of all contenders alternate, and each keeps its best. */
export function rates(contenders: readonly Contender[], share: number): Map<string, number> {
  const roundCount = Math.max(1, Math.round(roundCountMax * share));
  const best = new Map<string, number>();
  const sizes = contenders.map((contender) => calibrate(contender));
  for (let round = 0; round < roundCount; round++) {
    for (const [i, contender] of contenders.entries()) {
      const rate = timed(contender, sizes[i] as number);
      best.set(contender.name, Math.max(best.get(contender.name) ?? 0, rate));
    }
  }
  return best;
}

/** How many calls fill a round; the doubling also warms the code up. */
function calibrate(contender: Contender): number {
  for (let calls = 16; ; calls *= 2) {
    const rate = timed(contender, calls);
    const tookMs = (calls / rate) * 1000;
    if (tookMs > roundMs / 4) return Math.max(1, Math.floor((rate * roundMs) / 1000));
  }
}

function timed(contender: Contender, calls: number): number {
  const call = contender.call;
  const before = process.cpuUsage();
  for (let i = 0; i < calls; i++) call(i);
  const { user, system } = process.cpuUsage(before);
  return calls / (Math.max(1, user + system) / 1e6);
}

export interface Spread {
  /** The fullest target against the mean. */
  readonly maxOverMean: number;
  /** Standard deviation in units of the deviation of random throws. 1 is perfect. */
  readonly noise: number;
}

export function spread(picker: Picker, targets: readonly string[], keyCount: number): Spread {
  const counts = new Map(targets.map((name) => [name, 0]));
  for (let key = 0; key < keyCount; key++) {
    const name = picker.first(key);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const mean = keyCount / targets.length;
  const all = [...counts.values()];
  const variance = all.reduce((sum, count) => sum + (count - mean) ** 2, 0) / targets.length;
  return {
    maxOverMean: Math.max(...all) / mean,
    noise: Math.sqrt(variance) / mean / Math.sqrt((targets.length - 1) / keyCount),
  };
}

/** Keys that change their first target when one leaves, against the keys that target had. 1 is the least possible. */
export function movement(before: Picker, after: Picker, gone: string, keyCount: number): number {
  let moved = 0;
  let had = 0;
  for (let key = 0; key < keyCount; key++) {
    const old = before.first(key);
    if (old === gone) had++;
    if (old !== after.first(key)) moved++;
  }
  return moved / had;
}

/** 64-bit numbers as the timer service makes them: rising, with the member's number in the middle. */
export function makeKeys(count: number): Keys {
  const hi = new Uint32Array(count);
  const lo = new Uint32Array(count);
  const text: string[] = [];
  for (let i = 0; i < count; i++) {
    hi[i] = 0x0d1e_1d1a + (i >>> 12);
    lo[i] = (i << 20) | (i & 0xfff);
    text.push(`${hi[i]?.toString(16)}${lo[i]?.toString(16).padStart(8, '0')}`);
  }
  return { hi, lo, text };
}
