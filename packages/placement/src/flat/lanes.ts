/**
 * The hash of a number under four seeds at a time: 128-bit lanes of WebAssembly, for rankers that are asked often. The
 * module is put together below, instruction by instruction, when the first ranker wants it; nothing is compiled before
 * that, and no binary is kept. Results equal `ranker.ts` to the bit; where there are no lanes, its loops hash.
 *
 * L1. `hashes` leaves the hashes of a range in `out`, candidate i of the range at index i. They are open: the last step
 *     of the hash is not done.
 * L2. A range is at least four long. Its last four lanes are read from its end, so that none beyond it is touched:
 *     some candidates are hashed twice, to the same result.
 */

/** The part of WebAssembly that is used here; this package is compiled without the types of any platform. */
interface Platform {
  readonly document?: unknown;
  readonly WebAssembly?: {
    readonly Module: new (bytes: Uint8Array) => object;
    readonly Instance: new (module: object) => { readonly exports: unknown };
  };
}

export interface Lanes {
  /** Results of the last call. */
  readonly out: Int32Array;
  hashes(start: number, count: number, lo: number, hi: number): void;
  /** The position in the range with the highest hash; `out` then has the whole hashes. */
  highest(start: number, count: number, lo: number, hi: number): number;
}

/** Ranges below this are hashed one by one. */
const laneCount = 4;

/** Addresses of the first seed and of the end, both halves of the key, the address of the results. */
type Exported = (...given: readonly number[]) => number;

/** Compiled once; null: this engine has no lanes. */
let module: object | null | undefined;

/** Lanes over these seeds (rotated, as the ranker has them); null: not on this platform. */
export function lanesOver(seeds: Int32Array, rangeMax: number): Lanes | null {
  const { WebAssembly, document } = globalThis as Platform;
  // Pages forbid compiling as a rule, and a refusal is reported there: they have the plain loops.
  if (WebAssembly === undefined || document !== undefined || module === null) return null;
  try {
    module ??= new WebAssembly.Module(Uint8Array.from(program()));
    const { memory, hashes, highest } = new WebAssembly.Instance(module).exports as {
      readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
      readonly hashes: Exported;
      readonly highest: Exported;
    };
    const outAt = seeds.length * 4;
    const bytes = outAt + (rangeMax + laneCount) * 4;
    if (bytes > pageBytes) memory.grow(Math.ceil(bytes / pageBytes) - 1);
    new Int32Array(memory.buffer).set(seeds);
    return {
      out: new Int32Array(memory.buffer, outAt, rangeMax + laneCount),
      hashes: (start, count, lo, hi) => {
        hashes(start * 4, (start + count) * 4, lo, hi, outAt);
      },
      highest: (start, count, lo, hi) => highest(start * 4, (start + count) * 4, lo, hi, outAt),
    };
  } catch {
    // No lanes in this engine, or no memory for these.
    module ??= null;
    return null;
  }
}

const pageBytes = 65_536;
const [i32, v128] = [0x7f, 0x7b];
/** Parameters and locals of both functions: five numbers, then eight vectors, then two numbers. */
const [seedsAt, endAt, loAt, hiAt, outAt] = [0, 1, 2, 3, 4];
const [h, best, lo, hi, increment, length, factor1, factor2] = [5, 6, 7, 8, 9, 10, 11, 12];
const [at, mask] = [13, 14];

const get = (local: number): number[] => [0x20, local];
const set = (local: number): number[] => [0x21, local];
const tee = (local: number): number[] => [0x22, local];
const number = (value: number): number[] => [0x41, ...signed(value)];
const simd = (operation: number): number[] => [0xfd, ...unsigned(operation)];
const splat = simd(17);
const xor = simd(81);
const or = simd(80);
const shiftLeft = (bits: number): number[] => [...number(bits), ...simd(171)];
const shiftRight = (bits: number): number[] => [...number(bits), ...simd(173)];
const add = simd(174);
const multiply = simd(181);
const highestOf = simd(185);
const equal = simd(55);
const laneBits = simd(164);
/** Alignment of four bytes, no offset. */
const load = [...simd(0), 2, 0];
const store = [...simd(11), 2, 0];
const addition = [0x6a];
const subtraction = [0x6b];
const isLess = [0x49];

/** h × 5 + a constant, where `h` is on the stack. */
const round = [...tee(h), ...get(h), ...shiftLeft(2), ...add, ...get(increment), ...add];

/** h ^ (h >>> bits), where `h` is on the stack. */
const fold = (bits: number): number[] => [...tee(h), ...get(h), ...shiftRight(bits), ...xor];

/** The values of the hash in all lanes: made once, before the loop. */
const constants = [
  ...get(loAt),
  ...splat,
  ...set(lo),
  ...get(hiAt),
  ...splat,
  ...set(hi),
  ...number(0xe6546b64 | 0),
  ...splat,
  ...set(increment),
  ...number(8),
  ...splat,
  ...set(length),
  ...number(0x85ebca6b | 0),
  ...splat,
  ...set(factor1),
  ...number(0xc2b2ae35 | 0),
  ...splat,
  ...set(factor2),
];

/** The open hash of the four seeds at `seedsAt`, on the stack. */
const openHash = [
  ...get(seedsAt),
  ...load,
  ...get(lo),
  ...xor,
  ...round,
  ...get(hi),
  ...xor,
  ...tee(h),
  ...shiftLeft(13),
  ...get(h),
  ...shiftRight(19),
  ...or,
  ...round,
  ...get(length),
  ...xor,
  ...fold(16),
  ...get(factor1),
  ...multiply,
  ...fold(13),
  ...get(factor2),
  ...multiply,
];

/**
 * Does `step` for each four seeds, then for the last four (L2): `seedsAt` and `outAt` go back as far as they are
 * beyond.
 */
function eachFour(step: readonly number[]): number[] {
  const move = (local: number): number[] => [
    ...get(local),
    ...number(16),
    ...addition,
    ...set(local),
  ];
  const back = [...get(seedsAt), ...number(16), ...addition, ...get(endAt), ...subtraction];
  return [
    ...constants,
    0x03,
    0x40, // loop
    ...step,
    ...move(seedsAt),
    ...move(outAt),
    // Beyond the last whole four: go back, so that the next four end with the range.
    ...get(seedsAt),
    ...get(endAt),
    ...isLess,
    0x04,
    0x40, // if there are more
    ...back,
    ...tee(mask),
    ...number(0),
    0x4a, // as a signed number: some of the four are beyond
    0x04,
    0x40,
    ...get(seedsAt),
    ...get(mask),
    ...subtraction,
    ...set(seedsAt),
    ...get(outAt),
    ...get(mask),
    ...subtraction,
    ...set(outAt),
    0x0b,
    0x0c,
    1, // again
    0x0b,
    0x0b,
  ];
}

const body = (code: readonly number[]): number[] => {
  const locals = [2, 8, v128, 2, i32];
  const whole = [...locals, ...code, 0x0b];
  return [...unsigned(whole.length), ...whole];
};

const hashesBody = [...eachFour([...get(outAt), ...openHash, ...store]), ...number(0)];

const laneOf = (vector: number, lane: number): number[] => [...get(vector), ...simd(27), lane];
/** The larger of two unsigned numbers that `one` and `other` put on the stack; both are evaluated twice. */
const larger = (one: readonly number[], other: readonly number[]): number[] => [
  ...one,
  ...other,
  ...one,
  ...other,
  0x4b,
  0x1b, // select by "greater, unsigned"
];

const highestBody = [
  ...get(outAt),
  ...set(at),
  ...eachFour([
    ...get(outAt),
    ...openHash,
    ...fold(16),
    ...tee(h),
    ...store,
    ...get(best),
    ...get(h),
    ...highestOf,
    ...set(best),
  ]),
  // The highest of the four lanes, in all lanes.
  ...larger(larger(laneOf(best, 0), laneOf(best, 1)), larger(laneOf(best, 2), laneOf(best, 3))),
  ...splat,
  ...set(best),
  // The first place that has it. `outAt` counts from the start again.
  ...get(at),
  ...set(outAt),
  0x03,
  0x40,
  ...get(outAt),
  ...load,
  ...get(best),
  ...equal,
  ...laneBits,
  ...tee(mask),
  0x45,
  0x04,
  0x40,
  ...get(outAt),
  ...number(16),
  ...addition,
  ...set(outAt),
  0x0c,
  1,
  0x0b,
  0x0b,
  ...get(outAt),
  ...get(at),
  ...subtraction,
  ...number(2),
  0x76,
  ...get(mask),
  0x68,
  ...addition,
];

/** The module: one type, two functions, one page of memory. */
function program(): number[] {
  const section = (id: number, content: readonly number[]): number[] => [
    id,
    ...unsigned(content.length),
    ...content,
  ];
  const name = (text: string): number[] => [
    text.length,
    ...Array.from(text, (letter) => letter.charCodeAt(0)),
  ];
  return [
    0,
    0x61,
    0x73,
    0x6d,
    1,
    0,
    0,
    0,
    ...section(1, [1, 0x60, 5, i32, i32, i32, i32, i32, 1, i32]),
    ...section(3, [2, 0, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [3, ...name('memory'), 2, 0, ...name('hashes'), 0, 0, ...name('highest'), 0, 1]),
    ...section(10, [2, ...body(hashesBody), ...body(highestBody)]),
  ];
}

/** LEB128, as the format writes numbers. */
function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  const low = value & 127;
  const rest = value >> 7;
  const isLast = (rest === 0 && (low & 64) === 0) || (rest === -1 && (low & 64) !== 0);
  return isLast ? [low] : [low | 128, ...signed(rest)];
}
