import type { Random } from '../env.ts';

/** The same numbers for the same seed, on every machine (sfc32). */
export class SeededRandom implements Random {
  private a: number;
  private b = 0x9e3779b9;
  private c = 0x243f6a88;
  private counter = 1;

  constructor(seed: number) {
    this.a = seed >>> 0;
    for (let i = 0; i < 12; i++) this.u32();
  }

  u32(): number {
    const sum = (((this.a + this.b) | 0) + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  unit(): number {
    return this.u32() / 2 ** 32;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1));
  }

  chance(ratio: number): boolean {
    return this.unit() < ratio;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.between(0, from.length - 1)] as T;
  }

  /** An independent generator: draws from one do not shift the draws from the other. */
  fork(): SeededRandom {
    return new SeededRandom(this.u32());
  }
}
