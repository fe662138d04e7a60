import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { RunChecksum } from './run-checksum.ts';

const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const runs = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 });

/** Entries as they stand in a file, and the checksum of their run that their own checksums foretell. */
function runOf(contents: readonly Uint8Array[], seed: number) {
  const foretold = new RunChecksum(seed);
  const block = Buffer.concat(
    contents.flatMap((content) => {
      const sum = Buffer.alloc(4);
      sum.writeUInt32LE(crc32(content, seed));
      foretold.add(sum.readUInt32LE(), content.length);
      return [sum, content];
    }),
  );
  return { foretold, block };
}

it('foretells the checksum of any entries in a row, with any seed', () => {
  fc.assert(
    fc.property(runs, u32, (contents, seed) => {
      const { foretold, block } = runOf(contents, seed);
      expect(foretold.isOf(block)).toBe(true);
    }),
  );
});

it('differs as soon as one bit of one entry does', () => {
  fc.assert(
    fc.property(runs, u32, fc.nat(), (contents, seed, bit) => {
      const { block } = runOf(contents, seed);
      const at = (bit >>> 3) % Math.max(1, block.length);
      fc.pre(block.length > 0);
      block[at] = (block[at] ?? 0) ^ (1 << (bit & 7));
      // As a reader sees it: checksums come from the block too, and one of them may be the damaged part.
      expect(foretoldIn(block, contents, seed).isOf(block)).toBe(false);
    }),
  );
});

it('holds for an entry of the greatest length', () => {
  const { foretold, block } = runOf([new Uint8Array(17 * 1024 * 1024 + 4).fill(7)], 5);
  expect(foretold.isOf(block)).toBe(true);
});

function foretoldIn(block: Buffer, contents: readonly Uint8Array[], seed: number): RunChecksum {
  const foretold = new RunChecksum(seed);
  let at = 0;
  for (const { length } of contents) {
    foretold.add(block.readUInt32LE(at), length);
    at += 4 + length;
  }
  return foretold;
}
