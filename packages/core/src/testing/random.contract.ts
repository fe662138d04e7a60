/** The contract of the random source, run on the system's and on the seeded one. */
import { describe, expect, it } from 'vitest';
import type { Random } from '../env.ts';

export function randomContract(name: string, make: () => Random): void {
  describe(`random contract: ${name}`, () => {
    it('draws whole numbers of 32 bits, every bit both ways', () => {
      const random = make();
      let ones = 0;
      let zeros = 0;
      for (let i = 0; i < 1000; i++) {
        const value = random.u32();
        expect(Number.isInteger(value)).toBe(true);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThan(2 ** 32);
        ones |= value;
        zeros |= ~value;
      }
      expect(ones >>> 0).toBe(0xffffffff);
      expect(zeros >>> 0).toBe(0xffffffff);
    });

    it('draws from [0, 1), and fills it', () => {
      const random = make();
      const tenths = new Set<number>();
      for (let i = 0; i < 2000; i++) {
        const value = random.unit();
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThan(1);
        tenths.add(Math.floor(value * 10));
      }
      expect(tenths.size).toBe(10);
    });

    it('does not repeat itself', () => {
      const random = make();
      const drawn = new Set(Array.from({ length: 1000 }, () => random.u32()));
      expect(drawn.size).toBeGreaterThan(995);
    });
  });
}
