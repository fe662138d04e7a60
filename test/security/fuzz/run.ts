/**
 * Puts many inputs into each surface and looks for faults: an error that is not documented, a broken rule, an input
 * that stops the event loop for long, memory that is not given back. Input number n of a surface depends on the seed,
 * the name and n alone.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SeededRandom } from '@carillon/core/testing';
import { smaller } from './smaller.ts';
import type { Surface, Tally } from './surface.ts';

export interface RunOptions {
  readonly seed: number;
  /** Of all surfaces together. */
  readonly inputs: number;
  readonly tally: Tally;
}

export interface Found {
  readonly kind: 'crash' | 'stop' | 'memory';
  readonly surface: string;
  readonly what: string;
  readonly input: Uint8Array;
}

export interface SurfaceResult {
  readonly name: string;
  readonly inputs: number;
  readonly taken: number;
  readonly refused: number;
  readonly longestMs: number;
  readonly grownBytes: number;
  readonly found: Found | null;
}

/**
 * One input may keep the event loop for so long, in CPU time of its thread. An input that takes a quarter of it, and
 * longer than any before, is tried again, and the least of these tries counts: compiling, collecting and other work of
 * the machine only ever add to it.
 */
export const stopMs = 20;
const suspectMs = stopMs / 4;
const stopTries = 5;
const runsOfTry = 4;
/** Kept by a surface after its inputs, beside its caches. */
const grownBytesMax = 8 * 1024 * 1024;

export async function run(
  surfaces: readonly Surface[],
  options: RunOptions,
): Promise<SurfaceResult[]> {
  const shares = surfaces.reduce((sum, { share }) => sum + share, 0);
  const results: SurfaceResult[] = [];
  // A full collection takes as long as hundreds of inputs: one surface begins with the bytes at the end of another.
  let bytes = keptBytes();
  for (const surface of surfaces) {
    const count = Math.max(10, Math.ceil((options.inputs * surface.share) / shares));
    const surfaceRun = new SurfaceRun(surface, options, bytes);
    results.push(await surfaceRun.run(count));
    ({ bytes } = surfaceRun);
  }
  return results;
}

/** The fault that one input shows; null: none. */
export async function complaint(surface: Surface, input: Uint8Array): Promise<string | null> {
  try {
    await surface.put(input);
    return null;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

class SurfaceRun {
  private readonly surface: Surface;
  private readonly options: RunOptions;
  /** Held at the last measurement. */
  bytes: number;
  private tried = 0;
  private taken = 0;
  /** CPU time of the longest input. */
  private longestMs = 0;

  constructor(surface: Surface, options: RunOptions, bytes: number) {
    this.surface = surface;
    this.options = options;
    this.bytes = bytes;
  }

  async run(count: number): Promise<SurfaceResult> {
    const { name, keepsBytes = 0 } = this.surface;
    let found = await this.tryUpTo(count);
    let grownBytes = found === null ? this.grown() : 0;
    const isMuch = (): boolean => found === null && grownBytes > grownBytesMax + keepsBytes;
    // Caches fill with the first inputs: a surface that really keeps its inputs grows with the next ones as well.
    if (isMuch()) {
      found = await this.tryUpTo(2 * count);
      grownBytes = this.grown();
    }
    if (isMuch()) {
      const what = `${grownBytes} bytes more are kept after ${this.tried} inputs than after ${count}.`;
      found = { kind: 'memory', surface: name, what, input: new Uint8Array() };
    }
    const { tried, taken, longestMs } = this;
    const refused = tried - taken;
    return { name, inputs: tried, taken, refused, longestMs, grownBytes, found };
  }

  /** Ends with the first fault. */
  private async tryUpTo(count: number): Promise<Found | null> {
    let found: Found | null = null;
    for (; this.tried < count && found === null; this.tried++) found = await this.one(this.tried);
    return found;
  }

  /** Bytes more than at the last measurement. */
  private grown(): number {
    const before = this.bytes;
    this.bytes = keptBytes();
    return this.bytes - before;
  }

  private async one(number: number): Promise<Found | null> {
    const { surface } = this;
    const input = surface.make(randomOf(this.options.seed, surface.name, number));
    const before = process.threadCpuUsage();
    try {
      const verdict = surface.put(input);
      if ((verdict instanceof Promise ? await verdict : verdict) === 'taken') this.taken++;
    } catch {
      return this.found(input);
    }
    const tookMs = cpuMsSince(before);
    if (tookMs <= Math.max(this.longestMs, suspectMs)) return null;
    const leastMs = await leastCpuMs(surface, input);
    this.longestMs = Math.max(this.longestMs, leastMs);
    if (leastMs <= stopMs) return null;
    const what = `It stops the event loop for ${Math.round(leastMs)} ms; ${stopMs} are allowed.`;
    return { kind: 'stop', surface: surface.name, what, input };
  }

  private async found(input: Uint8Array): Promise<Found> {
    const { surface } = this;
    const least = await smaller(input, async (bytes) => (await complaint(surface, bytes)) !== null);
    const what = (await complaint(surface, least)) ?? 'It went wrong once, and not again.';
    return { kind: 'crash', surface: surface.name, what, input: least };
  }
}

async function leastCpuMs(surface: Surface, input: Uint8Array): Promise<number> {
  let leastMs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < stopTries; i++) {
    const before = process.threadCpuUsage();
    // Some kernels count in steps of a millisecond and more: several runs are measured as one.
    for (let again = 0; again < runsOfTry; again++) await surface.put(input);
    leastMs = Math.min(leastMs, cpuMsSince(before) / runsOfTry);
  }
  return leastMs;
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

function randomOf(seed: number, name: string, number: number): SeededRandom {
  let mixed = seed >>> 0;
  for (let i = 0; i < name.length; i++) mixed = Math.imul(mixed ^ name.charCodeAt(i), 0x01000193);
  return new SeededRandom(Math.imul(mixed ^ number, 0x9e3779b1) ^ (number >>> 5));
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes that are still held after a full collection. */
export function keptBytes(): number {
  // Memory of buffers is freed in the background, and counted at the next collection.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
