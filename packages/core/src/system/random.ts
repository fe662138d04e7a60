import type { Random } from '../env.ts';

/** Chance from the operating system's generator, drawn in blocks. */
export class SystemRandom implements Random {
  private readonly block = new Uint32Array(256);
  private used = this.block.length;

  u32(): number {
    if (this.used === this.block.length) {
      crypto.getRandomValues(this.block);
      this.used = 0;
    }
    return this.block[this.used++] as number;
  }

  unit(): number {
    return this.u32() / 2 ** 32;
  }
}
