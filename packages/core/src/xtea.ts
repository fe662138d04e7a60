/**
 * XTEA (Needham and Wheeler, 1997): turns 64-bit numbers into others, one to one, under a key of 128 bits. A party
 * without the key cannot tell which number becomes which, however many pairs it has seen. Plain arithmetic without a
 * call into native code: every set and every pop outside of `default` needs it.
 */

export interface Halves {
  readonly hi: number;
  readonly lo: number;
}

/** The numbers that a key adds in each of the 64 rounds. */
export type Schedule = Int32Array;

const cycles = 32;
const delta = 0x9e3779b9;

/** `key`: 16 bytes, read as four big-endian words. */
export function scheduleOf(key: Uint8Array): Schedule {
  const view = new DataView(key.buffer, key.byteOffset, 16);
  const word = (i: number): number => view.getUint32((i & 3) * 4);
  const schedule = new Int32Array(2 * cycles);
  let sum = 0;
  for (let i = 0; i < schedule.length; i += 2) {
    schedule[i] = sum + word(sum);
    sum = (sum + delta) | 0;
    schedule[i + 1] = sum + word(sum >>> 11);
  }
  return schedule;
}

export function encipher(schedule: Schedule, number: Halves): Halves {
  // Signed numbers of 32 bits: with unsigned ones the loop is several times slower.
  let hi = number.hi | 0;
  let lo = number.lo | 0;
  for (let i = 0; i < schedule.length; i += 2) {
    hi = (hi + (mixed(lo) ^ (schedule[i] as number))) | 0;
    lo = (lo + (mixed(hi) ^ (schedule[i + 1] as number))) | 0;
  }
  return { hi: hi >>> 0, lo: lo >>> 0 };
}

/** The way back. */
export function decipher(schedule: Schedule, number: Halves): Halves {
  let hi = number.hi | 0;
  let lo = number.lo | 0;
  for (let i = schedule.length - 2; i >= 0; i -= 2) {
    lo = (lo - (mixed(hi) ^ (schedule[i + 1] as number))) | 0;
    hi = (hi - (mixed(lo) ^ (schedule[i] as number))) | 0;
  }
  return { hi: hi >>> 0, lo: lo >>> 0 };
}

function mixed(half: number): number {
  return (((half << 4) ^ (half >>> 5)) + half) | 0;
}
