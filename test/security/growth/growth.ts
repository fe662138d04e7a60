/**
 * How the work of a parser grows with its input, measured in processor time of this thread. A parser that takes time in
 * proportion to its input needs twice as much for twice the input; one that does not needs four times as much or more,
 * and is found by the first doubling that shows it, before it takes minutes.
 *
 * A single call can be unlucky: 16 KiB in small pieces fill the young heap once, so that each call pays for one
 * collection, and a call with 8 KiB for half of one or none. A doubling that seems too dear is therefore measured again
 * with both inputs, over so many calls that collections spread evenly. Other work of the machine only ever adds to a
 * measurement, so one round within the limit is enough.
 */

const sizes = [1, 2, 4, 8, 16].map((kib) => kib * 1024);
/** Below this the clock decides. */
const leastMsSaying = 1;
const timesMax = 3;
/** Calls of a suspect are repeated for this long a round. */
const roundMs = 40;
const roundsOfSuspects = 5;
const suspectMsMax = 3000;

/** One way to make an input of any size. */
export interface Shape {
  readonly name: string;
  of(bytes: number): Buffer;
}

type Read = (input: Buffer) => unknown;

/** The doubling that took more than three times the work, in words; null: there is none. */
export async function growth(
  shape: Shape,
  read: Read,
  floorMs = leastMsSaying,
): Promise<string | null> {
  let half: Buffer | undefined;
  let halfMs = Number.POSITIVE_INFINITY;
  for (const size of sizes) {
    const input = shape.of(size);
    const ms = await leastMs(read, input, floorMs);
    if (half !== undefined && ms > timesMax * Math.max(halfMs, floorMs)) {
      const why = await confirmed(read, half, input, floorMs);
      if (why !== null) return why;
    }
    half = input;
    halfMs = ms;
  }
  return null;
}

/** The lesser of two calls; after a call within the floor, which says nothing, another one would say no more. */
async function leastMs(read: Read, input: Buffer, floorMs: number): Promise<number> {
  const ms = await tookMs(read, input);
  return ms <= floorMs ? ms : Math.min(ms, await tookMs(read, input));
}

/** Measures a suspected doubling over many calls; less often when it is far over. */
async function confirmed(
  read: Read,
  half: Buffer,
  whole: Buffer,
  floorMs: number,
): Promise<string | null> {
  let spentMs = 0;
  let why = '';
  for (let round = 0; round < roundsOfSuspects && spentMs < suspectMsMax; round++) {
    const ofHalf = await meanMs(read, half);
    const ofWhole = await meanMs(read, whole);
    if (ofWhole.ms <= timesMax * Math.max(ofHalf.ms, floorMs)) return null;
    spentMs += ofHalf.spentMs + ofWhole.spentMs;
    why = `${whole.length} bytes take ${ofWhole.ms.toFixed(1)} ms, half as many ${ofHalf.ms.toFixed(1)} ms`;
  }
  return why;
}

async function meanMs(read: Read, input: Buffer): Promise<{ ms: number; spentMs: number }> {
  let spentMs = 0;
  let calls = 0;
  while (spentMs < roundMs) {
    spentMs += await tookMs(read, input);
    calls++;
  }
  return { ms: spentMs / calls, spentMs };
}

/** With everything that the work does until its promise settles. */
async function tookMs(read: Read, input: Buffer): Promise<number> {
  const before = process.threadCpuUsage();
  const result = read(input);
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
