/**
 * The natural logarithm that weighted ranking needs, made of a table and + − × / alone. `Math.log` may
 * differ in the last bit between engines, and two members that differ in one bit disagree about a key;
 * these four operations are fixed to the bit by IEEE 754. The operations and their order are part of
 * the algorithm id; published vectors are in `vectors/`.
 */

const steps = 128;
const ln2 = logOfMiddle(2);

/** ln of the middle of each of 128 equal pieces of [1, 2). */
const table = Float64Array.from({ length: steps }, (_, i) => logOfMiddle(middle(i)));

/** 2⁰ … 2³². */
const powers = Float64Array.from({ length: 33 }, (_, e) => 2 ** e);

function middle(i: number): number {
  return 1 + (i + 0.5) / steps;
}

/** ln c = 2 atanh((c − 1) / (c + 1)) for 1 ≤ c ≤ 2, by its series: the quotient is at most 1/3. */
function logOfMiddle(c: number): number {
  const z = (c - 1) / (c + 1);
  const square = z * z;
  let sum = 0;
  for (let k = 41; k >= 1; k -= 2) sum = sum * square + 1 / k;
  return 2 * z * sum;
}

/** ln x for a number from 1 up, by halving it down to the series. For preparations, not for lookups. */
export function logOf(x: number): number {
  let c = x;
  let halvings = 0;
  for (; c > 2; c /= 2) halvings++;
  return logOfMiddle(c) + halvings * ln2;
}

/**
 * ln((h + ½) / 2³²) of an unsigned 32-bit hash: below zero, and rising with `h`.
 * With x = 2h + 1 = m × 2^e and 1 ≤ m < 2 this is ln m + (e − 33) ln 2.
 */
export function logOfHash(h: number): number {
  const e = h >= 0x8000_0000 ? 32 : 32 - Math.clz32(h);
  const m = (2 * h + 1) / (powers[e] as number);
  const i = Math.floor((m - 1) * steps);
  const c = middle(i);
  const d = (m - c) / c;
  // |d| ≤ 1/256: the first term left out is below 2⁻⁶⁶.
  const tail = 1 / 3 - d * (1 / 4 - d * (1 / 5 - d * (1 / 6 - d * (1 / 7))));
  const log = d - d * d * (1 / 2 - d * tail);
  return (table[i] as number) + log + (e - 33) * ln2;
}
