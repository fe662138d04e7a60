/**
 * Checks many entries with one call of the native CRC. An entry stands in a file as its checksum c, then n bytes r. The
 * native code takes 50 ns for 200 bytes of a large block and 250 ns for 200 bytes alone, so instead of asking it about
 * each r, the checksum of the whole block is foretold from the c and n of its entries, and compared.
 *
 * CRC is linear: with S the register before and · the product of polynomials modulo that of CRC-32,
 *
 *   over n bytes whose own checksum is c:   S → (S ⊕ ¬seed)·x⁸ⁿ ⊕ ¬c
 *   over the four bytes of c itself:        S → (S ⊕ c)·x³²
 *
 * so nothing of r is looked at. An entry whose bytes differ from its checksum changes the sum of the block by its own
 * difference times a power of x, which is never zero: one damaged entry is found as surely as by a checksum of its
 * own, and several cancel each other out once in 2³² cases.
 */
import { crc32 } from 'node:zlib';
import { zeroByteStep } from './checksum.ts';

/** Tables for up to 2²⁵ bytes: no entry is longer. */
const doublingCount = 25;
const tableSize = 4 * 256;

/** Multiplication by x⁸ⁿ for n = 2ᵏ, a table for each of the four bytes of a register. */
const shifts = buildShifts();

/** Foretells the checksum of a block from the checksums of the entries in it, which come in order. */
export class RunChecksum {
  private readonly notSeed: number;
  private register = ~0;

  /** `seed`: of the checksums of the entries. */
  constructor(seed: number) {
    this.notSeed = ~seed;
  }

  /** The next entry: its checksum, and how many bytes that covers. */
  add(sum: number, length: number): void {
    const behindSum = shifted(shifts, 2, this.register ^ sum);
    this.register = shiftedBy(length, behindSum ^ this.notSeed) ^ ~sum;
  }

  /** Whether the block of all entries, their checksums included, is the foretold one. */
  isOf(block: Uint8Array): boolean {
    return crc32(block, 0) === ~this.register >>> 0;
  }
}

/** The register times x⁸ⁿ. */
function shiftedBy(length: number, register: number): number {
  let value = register;
  for (let left = length, doubling = 0; left > 0; left >>>= 1, doubling++) {
    if ((left & 1) === 1) value = shifted(shifts, doubling, value);
  }
  return value;
}

/** The register after 2ᵏ zero bytes. */
function shifted(tables: Int32Array, doubling: number, register: number): number {
  const at = doubling * tableSize;
  return (
    (tables[at + (register & 255)] as number) ^
    (tables[at + 256 + ((register >>> 8) & 255)] as number) ^
    (tables[at + 512 + ((register >>> 16) & 255)] as number) ^
    (tables[at + 768 + (register >>> 24)] as number)
  );
}

/** Twice as many zero bytes are the same step taken twice. */
function buildShifts(): Int32Array {
  const built = new Int32Array(doublingCount * tableSize);
  for (let place = 0; place < tableSize; place++) {
    built[place] = zeroByteStep((place & 255) << ((place >>> 8) * 8));
  }
  for (let doubling = 1; doubling < doublingCount; doubling++) {
    for (let place = 0; place < tableSize; place++) {
      const half = built[(doubling - 1) * tableSize + place] as number;
      built[doubling * tableSize + place] = shifted(built, doubling - 1, half);
    }
  }
  return built;
}
