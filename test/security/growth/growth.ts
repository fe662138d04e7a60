/**
 * How the work of a parser grows with its input, measured in processor time of this thread. A parser that takes time in
 * proportion to its input needs twice as much for twice the input; one that does not needs four times as much or more,
 * and is found by the first doubling that shows it, before it takes minutes. Other work of the machine only ever adds
 * to a measurement, so the least of several counts.
 */

const sizes = [1, 2, 4, 8, 16].map((kib) => kib * 1024);
/** Below this the clock and the collector decide. */
const leastMsSaying = 1;
const timesMax = 3;
const triesOfSuspects = 12;
const suspectMsMax = 3000;

/** One way to make an input of any size. */
export interface Shape {
  readonly name: string;
  of(bytes: number): Buffer;
}

/** The doubling that took more than three times the work, in words; null: there is none. */
export async function growth(
  shape: Shape,
  read: (input: Buffer) => unknown,
  floorMs = leastMsSaying,
): Promise<string | null> {
  let beforeMs = Number.POSITIVE_INFINITY;
  for (const size of sizes) {
    const input = shape.of(size);
    const limitMs = timesMax * Math.max(beforeMs, floorMs);
    const ms = await fewestMs(() => read(input), limitMs);
    if (ms > limitMs)
      return `${size} bytes take ${ms.toFixed(1)} ms, half as many ${beforeMs.toFixed(1)} ms`;
    beforeMs = ms;
  }
  return null;
}

/** Measures again when a time seems to be over the limit; less often when it is far over. */
async function fewestMs(work: () => unknown, limitMs: number): Promise<number> {
  let leastMs = Math.min(await tookMs(work), await tookMs(work));
  let spentMs = 0;
  for (let i = 0; i < triesOfSuspects && leastMs > limitMs && spentMs < suspectMsMax; i++) {
    const ms = await tookMs(work);
    spentMs += ms;
    leastMs = Math.min(leastMs, ms);
  }
  return leastMs;
}

/** With everything that the work does until its promise settles. */
async function tookMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  const result = work();
  if (result instanceof Promise) await result;
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** `before`, then the unit as often as fits, then `after`. */
export function repeated(before: string, unit: string, after = ''): Shape {
  return {
    name: `${shown(before)} + ${shown(unit)} … + ${shown(after)}`,
    of: (bytes) =>
      Buffer.from(
        before + unit.repeat(Math.max(1, bytes / Buffer.byteLength(unit))) + after,
        'latin1',
      ),
  };
}

function shown(text: string): string {
  const quoted = JSON.stringify(text);
  return quoted.length <= 40 ? quoted : `${quoted.slice(0, 18)}…${quoted.slice(-18)}`;
}
