import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashText } from './hash.ts';
import { compileSkeleton, skeletonTargetsMax } from './skeleton.ts';
import type { Placer } from './rendezvous.ts';

const addresses = (count: number) =>
  Array.from({ length: count }, (_, i) => `10.0.${i >> 8}.${i & 255}:7253`);
const slotOf = (name: string) => hashText(name, 0) & 0x7fff;

function picked(placer: Placer, lo: number, count: number): string[] {
  const out = new Uint16Array(count);
  const size = placer.pick(77, lo, count, out);
  return Array.from(out.subarray(0, size), (i) => placer.names[i] as string);
}

describe('skeleton', () => {
  test('gives different targets, at most as many as there are, for numbers and texts', () => {
    for (const count of [1, 2, 7, 500]) {
      const skeleton = compileSkeleton(addresses(count));
      const out = new Int32Array(5);
      for (let lo = 0; lo < 50; lo++) {
        const names = picked(skeleton, lo, 5);
        expect(names).toHaveLength(Math.min(5, count));
        expect(new Set(names).size).toBe(names.length);
        const size = skeleton.pickText(`key ${lo}`, 5, out);
        expect(new Set(out.subarray(0, size)).size).toBe(Math.min(5, count));
      }
      expect(skeleton.pick(0, 0, 0, out)).toBe(0);
    }
  });

  test('the order of the list never matters', () => {
    const names = fc.shuffledSubarray(addresses(400), { minLength: 400 });
    fc.assert(
      fc.property(names, (list) => {
        const one = compileSkeleton(list);
        const other = compileSkeleton(addresses(400));
        for (let lo = 0; lo < 50; lo++) expect(picked(one, lo, 3)).toEqual(picked(other, lo, 3));
      }),
      { numRuns: 20 },
    );
  });

  test('a target that leaves moves only its own keys, when it shifts no other', () => {
    const names = addresses(1000);
    const gone = names.find((name) => {
      const slot = slotOf(name);
      return names.every((other) => other === name || Math.abs(slotOf(other) - slot) > 3);
    }) as string;
    const before = compileSkeleton(names);
    const after = compileSkeleton(names.filter((name) => name !== gone));
    let moved = 0;
    let others = 0;
    for (let lo = 0; lo < 200_000; lo++) {
      const [old] = picked(before, lo, 1);
      const [now] = picked(after, lo, 1);
      if (old === gone) moved++;
      else if (now !== old) others++;
    }
    expect(others).toBe(0);
    expect(moved / 200_000).toBeGreaterThan(0.0007);
    expect(moved / 200_000).toBeLessThan(0.0013);
  });

  test('the price: joins and leaves shift another target in about N / 32 768 of the cases, and no more than one in ten at 1000', () => {
    const names = addresses(1000);
    const taken = new Set<number>();
    let shifts = 0;
    for (const name of names) {
      if (taken.has(slotOf(name))) shifts++;
      taken.add(slotOf(name));
    }
    expect(shifts / names.length).toBeLessThan(0.1);
  });

  test('more targets than fit are refused', () => {
    expect(() => compileSkeleton(addresses(skeletonTargetsMax + 1))).toThrow(
      expect.objectContaining({ code: 'too_large' }),
    );
  });
});
