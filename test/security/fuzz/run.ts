/**
 * Puts many inputs into each surface and looks for faults: an error that is not documented, a broken rule, an input
 * that takes absurdly long, memory that is not given back. Input number n of a surface depends on the seed, the name
 * and n alone.
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
  readonly surface: string;
  readonly what: string;
  readonly input: Uint8Array;
}

export interface SurfaceResult {
  readonly name: string;
  readonly inputs: number;
  readonly taken: number;
  readonly refused: number;
  readonly slowestMs: number;
  readonly grownBytes: number;
  readonly found: Found | null;
}

/** An input is tried again alone before it is called slow: the machine may have been busy with something else. */
const slowMs = 250;
const slowTries = 3;
/** Kept by a surface between the first fifth of its inputs and the last. */
export const grownBytesMax = 8 * 1024 * 1024;
const warmShare = 0.2;

export async function run(
  surfaces: readonly Surface[],
  options: RunOptions,
): Promise<SurfaceResult[]> {
  const shares = surfaces.reduce((sum, { share }) => sum + share, 0);
  const results: SurfaceResult[] = [];
  for (const surface of surfaces) {
    const count = Math.max(10, Math.ceil((options.inputs * surface.share) / shares));
    results.push(await new SurfaceRun(surface, options).run(count));
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
  private taken = 0;
  private slowestMs = 0;

  constructor(surface: Surface, options: RunOptions) {
    this.surface = surface;
    this.options = options;
  }

  async run(count: number): Promise<SurfaceResult> {
    const { name } = this.surface;
    const warmCount = Math.ceil(count * warmShare);
    let found: Found | null = null;
    let tried = 0;
    let warmBytes = 0;
    for (; tried < count && found === null; tried++) {
      if (tried === warmCount) warmBytes = keptBytes();
      found = await this.one(tried);
    }
    const grownBytes = found === null ? keptBytes() - warmBytes : 0;
    if (found === null && grownBytes > grownBytesMax) {
      const what = `${grownBytes} bytes more are kept after ${tried} inputs than after ${warmCount}.`;
      found = { surface: name, what, input: new Uint8Array() };
    }
    const { taken, slowestMs } = this;
    const refused = tried - taken;
    return { name, inputs: tried, taken, refused, slowestMs, grownBytes, found };
  }

  private async one(number: number): Promise<Found | null> {
    const { surface } = this;
    const input = surface.make(randomOf(this.options.seed, surface.name, number));
    const startMs = performance.now();
    try {
      const verdict = surface.put(input);
      if ((verdict instanceof Promise ? await verdict : verdict) === 'taken') this.taken++;
    } catch {
      return this.found(input);
    }
    const tookMs = performance.now() - startMs;
    if (tookMs <= this.slowestMs) return null;
    const leastMs = tookMs > slowMs ? await leastOf(surface, input) : tookMs;
    this.slowestMs = Math.max(this.slowestMs, leastMs);
    if (leastMs <= slowMs) return null;
    const what = `It takes ${Math.round(leastMs)} ms; ${slowMs} is far more than any input needs.`;
    return { surface: surface.name, what, input };
  }

  private async found(input: Uint8Array): Promise<Found> {
    const { surface } = this;
    const least = await smaller(input, async (bytes) => (await complaint(surface, bytes)) !== null);
    const what = (await complaint(surface, least)) ?? 'It went wrong once, and not again.';
    return { surface: surface.name, what, input: least };
  }
}

async function leastOf(surface: Surface, input: Uint8Array): Promise<number> {
  let leastMs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < slowTries; i++) {
    const startMs = performance.now();
    await surface.put(input);
    leastMs = Math.min(leastMs, performance.now() - startMs);
  }
  return leastMs;
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
