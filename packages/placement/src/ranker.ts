/**
 * Orders candidates for a key: the inner loop of everything in this package. It knows ranges of
 * positions with seeds and weights, not names or trees; `Targets` and the tree walk sit on top.
 *
 * R1. A lookup allocates nothing: scratch arrays belong to the ranker, one key is read at a time.
 * R2. Within a range positions are sorted by weight, then by name, so equal weights are contiguous.
 * R3. Scores are kept with the top bit flipped: signed comparison then orders them as unsigned numbers.
 * R4. Equal weights rank by the raw hash. Different weights rank by ln((h + ½) / 2³²) / weight, and only
 *     the best of each weight class need a logarithm, because the logarithm rises with the hash.
 */
import { finish, type Hash, mixBlock, TextBlocks } from './hash.ts';
import { logOfHash } from './logarithm.ts';

const flip = 0x8000_0000 | 0;
const c3 = 0xe6546b64 | 0;

export interface RankerInput {
  /** Per position. */
  readonly seeds: Int32Array;
  /** Per position, all above zero, in rising order within each range. */
  readonly weights: Float64Array;
  /** The longest range. */
  readonly rangeMax: number;
  /** Instead of MurmurHash3: for tests and for counting. */
  readonly hash: Hash | null;
}

export class Ranker {
  /** Positions, best first: the answer of the last call of `highest` or `lowestFirst`. */
  readonly order: Int32Array;
  /** The unsigned score of what `highestOne` returned. */
  bestScore = 0;
  readonly #seeds: Int32Array;
  readonly #weights: Float64Array;
  readonly #hash: Hash | null;
  readonly #scores: Int32Array;
  readonly #classWinners: Int32Array;
  readonly #classScores: Float64Array;
  readonly #blocks = new TextBlocks();
  #isText = false;
  #text = '';
  #hi = 0;
  #lo = 0;
  #mixedHi = 0;
  #mixedLo = 0;

  constructor(input: RankerInput) {
    this.#seeds = input.seeds;
    this.#weights = input.weights;
    this.#hash = input.hash;
    this.order = new Int32Array(input.rangeMax + 1);
    this.#scores = new Int32Array(input.rangeMax);
    this.#classWinners = new Int32Array(input.rangeMax);
    this.#classScores = new Float64Array(input.rangeMax);
  }

  /** The next calls are about this 64-bit number. */
  readNumber(hi: number, lo: number): void {
    this.#isText = false;
    this.#hi = hi;
    this.#lo = lo;
    this.#mixedHi = mixBlock(hi);
    this.#mixedLo = mixBlock(lo);
  }

  /** The next calls are about this text. */
  readText(text: string): void {
    this.#isText = true;
    this.#text = text;
    this.#blocks.read(text);
  }

  /** The unsigned score of a position of the range that was ranked last. */
  scoreAt(start: number, position: number): number {
    return ((this.#scores[position - start] as number) ^ flip) >>> 0;
  }

  /** The position with the highest score of a range. Its own loop, because a walk mostly asks for one. */
  highestOne(start: number, count: number): number {
    if (this.#hash !== null || this.#isText || !this.#isUniform(start, count)) {
      this.highest(start, count, 1);
      this.bestScore = this.scoreAt(start, this.order[0] as number);
      return this.order[0] as number;
    }
    const seeds = this.#seeds;
    const first = this.#mixedLo;
    const second = this.#mixedHi;
    const end = start + count;
    let best = -0x8000_0000;
    let at = start;
    for (let i = start; i < end; i++) {
      let h = (seeds[i] as number) ^ first;
      h = ((Math.imul((h << 13) | (h >>> 19), 5) + c3) | 0) ^ second;
      h = (Math.imul((h << 13) | (h >>> 19), 5) + c3) | 0;
      h = finish(h ^ 8) ^ flip;
      if (h > best) {
        best = h;
        at = i;
      }
    }
    this.bestScore = (best ^ flip) >>> 0;
    return at;
  }

  /** The `k` best of a range, highest score first, into `order`. */
  highest(start: number, count: number, k: number): void {
    this.#fill(start, count);
    this.#selectHighest(start, count, k);
  }

  /** The roles of the timer cluster: the lowest score first, then from the highest down. */
  lowestFirst(start: number, count: number, k: number): void {
    this.#fill(start, count);
    if (this.#isUniform(start, count)) {
      const lowest = start + this.#lowestOffset(count);
      if (k > 1) this.#selectUniform(start, 0, count, k - 1);
      this.order.copyWithin(1, 0, k - 1);
      this.order[0] = lowest;
      return;
    }
    // Mirrored scores make the lowest the highest, so that weights mean a larger share here too.
    this.#mirror(count);
    this.#selectHighest(start, count, 1);
    const primary = this.order[0] as number;
    this.#mirror(count);
    this.#selectHighest(start, count, k);
    let at = 0;
    while (at < k - 1 && this.order[at] !== primary) at++;
    this.order.copyWithin(1, 0, at);
    this.order[0] = primary;
  }

  #isUniform(start: number, count: number): boolean {
    return this.#weights[start] === this.#weights[start + count - 1];
  }

  #selectHighest(start: number, count: number, k: number): void {
    if (this.#isUniform(start, count)) this.#selectUniform(start, 0, count, k);
    else this.#selectWeighted(start, count, k);
  }

  #mirror(count: number): void {
    const scores = this.#scores;
    for (let i = 0; i < count; i++) scores[i] = ~(scores[i] as number);
  }

  #lowestOffset(count: number): number {
    const scores = this.#scores;
    let lowest = 0;
    for (let i = 1; i < count; i++) {
      if ((scores[i] as number) < (scores[lowest] as number)) lowest = i;
    }
    return lowest;
  }

  /** The best `k` of the offsets from…from + count by raw score, as positions, into `order`. */
  #selectUniform(start: number, from: number, count: number, k: number): void {
    const scores = this.#scores;
    const order = this.order;
    const end = from + count;
    let size = 0;
    let worst = 0;
    for (let i = from; i < end; i++) {
      const score = scores[i] as number;
      if (size === k && score <= worst) continue;
      let at = size === k ? size - 1 : size++;
      while (at > 0 && (scores[(order[at - 1] as number) - start] as number) < score) {
        order[at] = order[at - 1] as number;
        at--;
      }
      order[at] = start + i;
      worst = scores[(order[size - 1] as number) - start] as number;
    }
  }

  /** As above with different weights: the best of each weight class compete by their logarithms. */
  #selectWeighted(start: number, count: number, k: number): void {
    let winners = 0;
    for (let from = 0; from < count; ) {
      const weight = this.#weights[start + from] as number;
      let end = from + 1;
      while (end < count && this.#weights[start + end] === weight) end++;
      const size = Math.min(k, end - from);
      this.#selectUniform(start, from, end - from, size);
      for (let i = 0; i < size; i++) {
        const position = this.order[i] as number;
        this.#classWinners[winners] = position;
        this.#classScores[winners] = logOfHash(this.scoreAt(start, position)) / weight;
        winners++;
      }
      from = end;
    }
    this.#mergeClasses(winners, k);
  }

  #mergeClasses(winners: number, k: number): void {
    const scores = this.#classScores;
    for (let rank = 0; rank < k; rank++) {
      let best = -1;
      for (let i = 0; i < winners; i++) {
        if (best < 0 || (scores[i] as number) > (scores[best] as number)) best = i;
      }
      this.order[rank] = this.#classWinners[best] as number;
      scores[best] = Number.NEGATIVE_INFINITY;
    }
  }

  /** Scores a range. The number case is MurmurHash3 written out: it is where the time goes. */
  #fill(start: number, count: number): void {
    if (this.#hash !== null) this.#fillInjected(this.#hash, start, count);
    else if (this.#isText) this.#fillText(start, count);
    else {
      const seeds = this.#seeds;
      const scores = this.#scores;
      const first = this.#mixedLo;
      const second = this.#mixedHi;
      for (let i = 0; i < count; i++) {
        let h = (seeds[start + i] as number) ^ first;
        h = ((Math.imul((h << 13) | (h >>> 19), 5) + c3) | 0) ^ second;
        h = (Math.imul((h << 13) | (h >>> 19), 5) + c3) | 0;
        scores[i] = finish(h ^ 8) ^ flip;
      }
    }
  }

  #fillText(start: number, count: number): void {
    for (let i = 0; i < count; i++) {
      this.#scores[i] = this.#blocks.hash(this.#seeds[start + i] as number) ^ flip;
    }
  }

  /** An injected hash may give equal scores: the later position is raised by one until it is unique. */
  #fillInjected(hash: Hash, start: number, count: number): void {
    const taken = new Set<number>();
    for (let i = 0; i < count; i++) {
      const seed = (this.#seeds[start + i] as number) >>> 0;
      const raw = this.#isText
        ? hash.text(this.#text, seed)
        : hash.number(this.#hi, this.#lo, seed);
      this.#scores[i] = raiseUntilFree(raw, taken) ^ flip;
    }
  }
}

/** `value`, or the next free one upwards (after 2³² − 1 comes 0), which is then taken. */
export function raiseUntilFree(value: number, taken: Set<number>): number {
  let free = value >>> 0;
  while (taken.has(free)) free = (free + 1) >>> 0;
  taken.add(free);
  return free;
}
