/**
 * The key of a placement: a text (its UTF-8 bytes) or a 64-bit number (8 little-endian bytes). Hot paths take the two
 * halves of a number directly; `Key` is for everything else.
 */
import { PlacementError } from '../errors.ts';

/** A 64-bit number as two unsigned 32-bit halves. */
export interface NumberKey {
  readonly hi: number;
  readonly lo: number;
}

export type Key = string | bigint | NumberKey;

/** Longer text keys are refused: each is hashed once per candidate. */
export const keyLengthMax = 65_536;

/** The halves of a number key, or the text unchanged; throws on anything else. */
export function readKey(key: Key): string | NumberKey {
  if (typeof key === 'string') {
    if (key.length <= keyLengthMax) return key;
    throw new PlacementError(
      'too_large',
      `The key has ${key.length} characters; at most ${keyLengthMax} are allowed.`,
    );
  }
  if (typeof key === 'bigint') {
    if (key >= 0n && key <= 0xffff_ffff_ffff_ffffn) {
      return { hi: Number(key >> 32n), lo: Number(key & 0xffff_ffffn) };
    }
  } else if (isHalf(key?.hi) && isHalf(key.lo)) return key;
  throw new PlacementError(
    'bad_key',
    'A key must be a text, a bigint from 0 to 2⁶⁴ − 1, or two 32-bit halves { hi, lo }.',
  );
}

function isHalf(value: unknown): boolean {
  return typeof value === 'number' && value >>> 0 === value;
}
