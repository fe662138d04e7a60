import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Arena } from './arena.ts';

function write(arena: Arena, ref: number, length: number, value: number): void {
  const offset = arena.offsetOf(ref);
  arena.page(ref).bytes.fill(value, offset, offset + length);
}

function holds(arena: Arena, ref: number, length: number, value: number): boolean {
  const offset = arena.offsetOf(ref);
  const bytes = arena.page(ref).bytes.subarray(offset, offset + length);
  return bytes.length === length && bytes.every((byte) => byte === value);
}

const length = fc.oneof(
  fc.nat(300),
  fc.constantFrom(0, 1, 8, 9, 256, 257, 288, 289, 65_535, 65_536, 65_537),
  fc.nat(200_000),
);

describe('arena', () => {
  it('reserves blocks side by side, over several pages, beside others', () => {
    const arena = new Arena();
    const alone = [arena.allocate(170), arena.allocate(170)];
    const refs: number[] = [];
    while (refs.length < 5000) {
      const { ref, count, step } = arena.reserve(176, 5000 - refs.length);
      for (let i = 0; i < count; i++) refs.push(ref + i * step);
    }
    const all = [...alone, ...refs, arena.allocate(170)];
    expect(new Set(all).size).toBe(5003);
    for (const [i, ref] of all.entries()) write(arena, ref, 176, i & 255);
    for (const [i, ref] of all.entries()) expect(holds(arena, ref, 176, i & 255)).toBe(true);
    expect(arena.usedBytes).toBe(5003 * 176);
    for (const ref of all) arena.release(ref);
    expect(arena.usedBytes).toBe(0);
    // Of a length that no class has, and of one too long for any: one at a time.
    expect([arena.reserve(171, 9).count, arena.reserve(100_000, 9).count]).toEqual([1, 1]);
  });

  it('keeps every block as it was written, while others are allocated, released and moved', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ length, release: fc.option(fc.nat(), { freq: 2 }) }), {
          maxLength: 200,
        }),
        (operations) => {
          const arena = new Arena();
          const blocks: { ref: number; length: number; value: number }[] = [];
          operations.forEach(({ length: bytes, release }, turn) => {
            const ref = arena.allocate(bytes);
            write(arena, ref, bytes, turn & 255);
            blocks.push({ ref, length: bytes, value: turn & 255 });
            if (release === null) return;
            const [gone] = blocks.splice(release % blocks.length, 1);
            if (gone !== undefined) arena.release(gone.ref);
          });
          arena.beginCompaction();
          for (const block of blocks) {
            if (arena.isSparse(block.ref)) block.ref = arena.move(block.ref);
            expect(arena.isSparse(block.ref)).toBe(false);
          }
          arena.endCompaction();
          for (const block of blocks) {
            expect(holds(arena, block.ref, block.length, block.value)).toBe(true);
          }
          expect(new Set(blocks.map(({ ref }) => ref)).size).toBe(blocks.length);
          for (const { ref } of blocks) arena.release(ref);
          expect(arena.usedBytes).toBe(0);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('rounds a block up by no more than an eighth, or seven bytes', () => {
    const wrong: number[] = [];
    for (let bytes = 1; bytes < 70_000; bytes += bytes < 300 ? 1 : 97) {
      const arena = new Arena();
      const ref = arena.allocate(bytes);
      const waste = arena.usedBytes - bytes;
      if (waste < 0 || waste > Math.max(7, bytes / 8)) wrong.push(bytes);
      if (!arena.fits(ref, bytes) || !arena.fits(ref, arena.usedBytes)) wrong.push(bytes);
      if (arena.fits(ref, arena.usedBytes + 1)) wrong.push(bytes);
    }
    expect(wrong).toEqual([]);
  });

  it('empties sparse pages by compaction and lets go of them', () => {
    const arena = new Arena();
    let refs = Array.from({ length: 400_000 }, () => arena.allocate(100));
    const full = arena.bytes;
    expect(arena.wantsCompaction).toBe(false);
    refs = refs.filter((ref, i) => {
      if (i % 3 === 0) return true;
      arena.release(ref);
      return false;
    });
    expect(arena.bytes).toBe(full);
    expect(arena.wantsCompaction).toBe(true);
    expect(arena.beginCompaction()).toBe(true);
    for (const ref of refs) if (arena.isSparse(ref)) arena.move(ref);
    arena.endCompaction();
    expect(arena.bytes).toBeLessThan(full * 0.5);
    expect(arena.wantsCompaction).toBe(false);
  });

  it('does not start a compaction again and again when it cannot help', () => {
    const arena = new Arena();
    // One block in each of many classes keeps a page of each; the rest of the page is a gap.
    const kept: number[] = [];
    for (let bytes = 8; bytes <= 65_536; bytes += bytes < 256 ? 8 : bytes / 8) {
      const refs = Array.from({ length: Math.floor(262_144 / bytes) }, () => arena.allocate(bytes));
      for (const ref of refs.slice(1)) arena.release(ref);
      kept.push(refs[0] as number);
    }
    expect(arena.wantsCompaction).toBe(true);
    expect(arena.beginCompaction()).toBe(false);
    expect(arena.wantsCompaction).toBe(false);
    expect(kept.some((ref) => arena.isSparse(ref))).toBe(false);
  });
});
