/**
 * Numbers as clients of a namespace see them, and as members keep them. Members know every timer by its number alone;
 * so that two namespaces can both have a timer 1, and an id of one means nothing in another, each namespace has the
 * numbers shifted in its own way. The namespace `default` has them as they are.
 *
 * N1  Back and forth are the same step: `shiftNumber(n, shiftNumber(n, x))` is `x`.
 * N2  This keeps namespaces out of each other's way, it does not keep secrets: the shift can be computed by everyone.
 *     Whether a member shows a record is decided by the namespace in the record.
 */

export interface Halves {
  readonly hi: number;
  readonly lo: number;
}

const plain = 'default';
/** Shifts at hand; forgotten all at once when there are this many. */
const knownMax = 1024;
const known = new Map<string, Halves>();

export function shiftNumber(namespace: string, { hi, lo }: Halves): Halves {
  if (namespace === plain) return { hi, lo };
  const by = known.get(namespace) ?? learn(namespace);
  return { hi: (hi ^ by.hi) >>> 0, lo: (lo ^ by.lo) >>> 0 };
}

function learn(namespace: string): Halves {
  if (known.size >= knownMax) known.clear();
  const by = { hi: hash(namespace, 0x9e3779b9), lo: hash(namespace, 0x85ebca6b) };
  known.set(namespace, by);
  return by;
}

/** 32 bits that depend on every character and on `seed`: FNV-1a with the finish of MurmurHash3. */
function hash(text: string, seed: number): number {
  let state = seed;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}
