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
import { type Hash, mixBlock, TextBlocks } from './hash.ts';
import { type Lanes, lanesOver } from './lanes.ts';
import { logOfHash } from './logarithm.ts';

const flip = 0x8000_0000 | 0;
const c3 = 0xe6546b64 | 0;
const f1 = 0x85ebca6b | 0;
const f2 = 0xc2b2ae35 | 0;

/** A ranker that was asked about this many numbers hashes four candidates at a time from then on, where it can. */
const lanesAfter = 10_000;
/** Shorter ranges are not worth the call. */
const lanesRangeMin = 8;

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
  /** Positions, best first: the answer of the last call. */
  readonly order: Int32Array;
  /** The flipped score of each of `order`. */
  readonly #best: Int32Array;
  readonly #seeds: Int32Array;
  /** The seeds rotated as the first step of the hash rotates them: x ^ y rotated is x rotated ^ y rotated. */
  readonly #rotated: Int32Array;
  readonly #weights: Float64Array;
  readonly #hash: Hash | null;
  readonly #scores: Int32Array;
  readonly #likelyAt: Int32Array;
  readonly #classWinners: Int32Array;
  readonly #classRaw: Int32Array;
  readonly #classScores: Float64Array;
  readonly #blocks = new TextBlocks();
  readonly #rangeMax: number;
  #lanes: Lanes | null = null;
  #numbersRead = 0;
  #likelyCount = 0;
  #likelyK = 0;
  #likely = 0;
  #isText = false;
  /** A number under the real hash. */
  #isPlainKey = false;
  /** Whether every weight of every range is 1. */
  readonly #allUniform: boolean;
  #text = '';
  #hi = 0;
  #lo = 0;
  #mixedHi = 0;
  /** The lower half of the key, rotated like the seeds. */
  #rotatedLo = 0;

  constructor(input: RankerInput) {
    this.#seeds = input.seeds;
    this.#rotated = input.seeds.map(rotate);
    this.#weights = input.weights;
    this.#hash = input.hash;
    this.#rangeMax = input.rangeMax;
    this.#allUniform = input.weights.every((weight) => weight === input.weights[0]);
    // The loop for up to three always writes three, even when fewer were asked for.
    this.order = new Int32Array(input.rangeMax + 3);
    this.#best = new Int32Array(input.rangeMax + 3);
    this.#scores = new Int32Array(input.rangeMax);
    this.#likelyAt = new Int32Array(input.rangeMax);
    this.#classWinners = new Int32Array(input.rangeMax);
    this.#classRaw = new Int32Array(input.rangeMax);
    this.#classScores = new Float64Array(input.rangeMax);
  }

  /** The next calls are about this 64-bit number. */
  readNumber(hi: number, lo: number): void {
    this.#isText = false;
    this.#isPlainKey = this.#hash === null;
    this.#hi = hi;
    this.#lo = lo;
    this.#mixedHi = mixBlock(hi);
    this.#rotatedLo = rotate(mixBlock(lo));
    if (++this.#numbersRead === lanesAfter && this.#rangeMax >= lanesRangeMin) {
      this.#lanes = lanesOver(this.#rotated, this.#rangeMax);
    }
  }

  /** The next calls are about this text. */
  readText(text: string): void {
    this.#isText = true;
    this.#isPlainKey = false;
    this.#text = text;
    this.#blocks.read(text);
  }

  /** The unsigned score of `order[i]`. */
  score(i: number): number {
    return ((this.#best[i] as number) ^ flip) >>> 0;
  }

  /** The `k` best of a range, highest score first, into `order`. */
  highest(start: number, count: number, k: number): void {
    if (this.#isPlain(start, count)) {
      if (k === 1) this.#scanHighest(start, count);
      else this.#scan(start, count, k);
      return;
    }
    this.#fill(start, count);
    this.#selectHighest(start, count, k);
  }

  /** The roles of the timer cluster: the lowest score first, then from the highest down. */
  lowestFirst(start: number, count: number, k: number): void {
    if (k === 1 && this.#isPlain(start, count)) {
      this.#scanLowest(start, count);
      return;
    }
    this.#fill(start, count);
    const uniform = this.#isUniform(start, count);
    const lowest = uniform ? this.#lowestOffset(count) : this.#heaviestLow(start, count);
    this.#selectHighest(start, count, k);
    this.#moveToFront(start + lowest, this.#scores[lowest] as number, k);
  }

  #lowestOffset(count: number): number {
    const scores = this.#scores;
    let at = 0;
    for (let i = 1; i < count; i++) {
      if ((scores[i] as number) < (scores[at] as number)) at = i;
    }
    return at;
  }

  /**
   * The lowest where weights differ: mirrored scores make it the highest, so that weights mean a larger share here too.
   */
  #heaviestLow(start: number, count: number): number {
    this.#mirror(count);
    this.#selectHighest(start, count, 1);
    this.#mirror(count);
    return (this.order[0] as number) - start;
  }

  /** Makes `primary` the first of `k`, wherever it was among them; the last falls out if it was not. */
  #moveToFront(primary: number, score: number, k: number): void {
    let at = 0;
    while (at < k - 1 && this.order[at] !== primary) at++;
    for (; at > 0; at--) {
      this.order[at] = this.order[at - 1] as number;
      this.#best[at] = this.#best[at - 1] as number;
    }
    this.order[0] = primary;
    this.#best[0] = score;
  }

  /** The common case, which has its own loops: numbers, equal weights, the real hash. */
  #isPlain(start: number, count: number): boolean {
    return this.#isPlainKey && this.#isUniform(start, count);
  }

  #isUniform(start: number, count: number): boolean {
    return this.#allUniform || this.#weights[start] === this.#weights[start + count - 1];
  }

  /** The single best of a range, by unsigned scores: one operation less for each candidate. */
  #scanHighest(start: number, count: number): void {
    const rotated = this.#rotated;
    const first = this.#rotatedLo;
    const second = this.#mixedHi;
    const lanes = this.#lanes;
    if (lanes !== null && count >= lanesRangeMin) {
      const offset = lanes.highest(start, count, first, second);
      this.order[0] = start + offset;
      this.#best[0] = (lanes.out[offset] as number) ^ flip;
      return;
    }
    const end = start + count;
    let best = 0;
    let at = start;
    for (let i = start; i < end; i++) {
      const score = hashRotated(rotated[i] as number, first, second) >>> 0;
      const better = -Number(score > best);
      best = (best ^ ((best ^ score) & better)) >>> 0;
      at ^= (at ^ i) & better;
    }
    this.order[0] = at;
    this.#best[0] = best ^ flip;
  }

  /** The lowest of a range: ~x reverses the order. */
  #scanLowest(start: number, count: number): void {
    const reverse = ~flip;
    const rotated = this.#rotated;
    const first = this.#rotatedLo;
    const second = this.#mixedHi;
    const end = start + count;
    let best = -0x8000_0000;
    let at = start;
    for (let i = start; i < end; i++) {
      const score = hashRotated(rotated[i] as number, first, second) ^ reverse;
      // All ones or all zeros instead of a branch: a processor guesses it wrong too often in short ranges.
      const better = -Number(score > best);
      best ^= (best ^ score) & better;
      at ^= (at ^ i) & better;
    }
    this.order[0] = at;
    this.#best[0] = ~best;
  }

  /**
   * The best `k` of a plain range. Candidates above a score that about 2k of them should reach are set aside without
   * a branch, and only they are put in order; when too few reach it, all candidates are. The last step of the hash
   * leaves its upper half as it is, and the score to reach ends in zeros: the step is left to the candidates set aside.
   */
  #scan(start: number, count: number, k: number): void {
    const likely = this.#likelyScore(count, k);
    const rotated = this.#rotated;
    const scores = this.#scores;
    const likelyAt = this.#likelyAt;
    const first = this.#rotatedLo;
    const second = this.#mixedHi;
    const lanes = this.#lanes;
    let found = 0;
    const end = start + count;
    if (lanes !== null && count >= lanesRangeMin) {
      found = this.#setAside(lanes, start, count, likely);
    } else {
      for (let i = start; i < end; i++) {
        const open = hashOpen(rotated[i] as number, first, second);
        scores[found] = open;
        likelyAt[found] = i;
        found += Number(open >>> 0 >= likely);
      }
    }
    if (found < k) {
      this.#fill(start, count);
      this.#selectUniform(start, 0, count, k);
      return;
    }
    if (k <= 3) this.#topThree(found);
    else this.#selectLikely(found, k);
  }

  /** Sets the candidates above a score aside, hashed in lanes; returns how many. */
  #setAside(lanes: Lanes, start: number, count: number, likely: number): number {
    const scores = this.#scores;
    const likelyAt = this.#likelyAt;
    const { out } = lanes;
    lanes.hashes(start, count, this.#rotatedLo, this.#mixedHi);
    let found = 0;
    for (let i = 0; i < count; i++) {
      const open = out[i] as number;
      scores[found] = open;
      likelyAt[found] = start + i;
      found += Number(open >>> 0 >= likely);
    }
    return found;
  }

  /** The score that about 2k of `count` candidates reach; the last answer is kept, because walks repeat themselves. */
  #likelyScore(count: number, k: number): number {
    if (count !== this.#likelyCount || k !== this.#likelyK) {
      const reach = (2 * k + 1) / count;
      this.#likely = reach < 0.5 ? 0x1_0000 * Math.floor((1 - reach) * 0x1_0000) : 0;
      this.#likelyCount = count;
      this.#likelyK = k;
    }
    return this.#likely;
  }

  /** The best `k` of the candidates set aside. */
  #selectLikely(found: number, k: number): void {
    const scores = this.#scores;
    const likelyAt = this.#likelyAt;
    for (let i = 0; i < k; i++) this.#insert(likelyAt[i] as number, closed(scores[i] as number), i);
    let worst = this.#best[k - 1] as number;
    for (let i = k; i < found; i++) {
      const score = closed(scores[i] as number);
      if (score <= worst) continue;
      this.#insert(likelyAt[i] as number, score, k - 1);
      worst = this.#best[k - 1] as number;
    }
  }

  /** The same for up to three, without branches: each candidate sinks past the better ones. */
  #topThree(found: number): void {
    const scores = this.#scores;
    const likelyAt = this.#likelyAt;
    let best1 = -0x8000_0000;
    let best2 = best1;
    let best3 = best1;
    let at1 = 0;
    let at2 = 0;
    let at3 = 0;
    for (let i = 0; i < found; i++) {
      let score = closed(scores[i] as number);
      let at = likelyAt[i] as number;
      const beats1 = -Number(score >= best1);
      const swap1 = (best1 ^ score) & beats1;
      const swapAt1 = (at1 ^ at) & beats1;
      best1 ^= swap1;
      score ^= swap1;
      at1 ^= swapAt1;
      at ^= swapAt1;
      const beats2 = -Number(score >= best2);
      const swap2 = (best2 ^ score) & beats2;
      const swapAt2 = (at2 ^ at) & beats2;
      best2 ^= swap2;
      score ^= swap2;
      at2 ^= swapAt2;
      at ^= swapAt2;
      const beats3 = -Number(score >= best3);
      best3 ^= (best3 ^ score) & beats3;
      at3 ^= (at3 ^ at) & beats3;
    }
    this.#keep(0, best1, at1);
    this.#keep(1, best2, at2);
    this.#keep(2, best3, at3);
  }

  #keep(rank: number, score: number, position: number): void {
    this.#best[rank] = score;
    this.order[rank] = position;
  }

  /** Puts a candidate in its place among the best; `last` is the place that becomes free. */
  #insert(position: number, score: number, last: number): void {
    const best = this.#best;
    const order = this.order;
    let at = last;
    while (at > 0 && (best[at - 1] as number) < score) {
      best[at] = best[at - 1] as number;
      order[at] = order[at - 1] as number;
      at--;
    }
    best[at] = score;
    order[at] = position;
  }

  #selectHighest(start: number, count: number, k: number): void {
    if (this.#isUniform(start, count)) this.#selectUniform(start, 0, count, k);
    else this.#selectWeighted(start, count, k);
  }

  #mirror(count: number): void {
    const scores = this.#scores;
    for (let i = 0; i < count; i++) scores[i] = ~(scores[i] as number);
  }

  /** The best `k` of the offsets from…from + count by raw score, as positions, into `order`. */
  #selectUniform(start: number, from: number, count: number, k: number): void {
    const scores = this.#scores;
    for (let i = 0; i < k; i++) this.#insert(start + from + i, scores[from + i] as number, i);
    let worst = this.#best[k - 1] as number;
    for (let i = from + k; i < from + count; i++) {
      const score = scores[i] as number;
      if (score <= worst) continue;
      this.#insert(start + i, score, k - 1);
      worst = this.#best[k - 1] as number;
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
        this.#classWinners[winners] = this.order[i] as number;
        this.#classRaw[winners] = this.#best[i] as number;
        this.#classScores[winners] = logOfHash(this.score(i)) / weight;
        winners++;
      }
      from = end;
    }
    this.#mergeClasses(winners, k);
  }

  #mergeClasses(winners: number, k: number): void {
    const scores = this.#classScores;
    for (let rank = 0; rank < k; rank++) {
      let best = 0;
      for (let i = 1; i < winners; i++) {
        if ((scores[i] as number) > (scores[best] as number)) best = i;
      }
      this.order[rank] = this.#classWinners[best] as number;
      this.#best[rank] = this.#classRaw[best] as number;
      scores[best] = Number.NEGATIVE_INFINITY;
    }
  }

  /** Scores a range into `#scores`. */
  #fill(start: number, count: number): void {
    const seeds = this.#seeds;
    const scores = this.#scores;
    if (this.#hash !== null) this.#fillInjected(this.#hash, start, count);
    else if (this.#isText) {
      for (let i = 0; i < count; i++) {
        scores[i] = this.#blocks.hash(seeds[start + i] as number) ^ flip;
      }
    } else {
      for (let i = 0; i < count; i++) {
        scores[i] = scoreRotated(
          this.#rotated[start + i] as number,
          this.#rotatedLo,
          this.#mixedHi,
        );
      }
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

/**
 * The rotation of each round of the hash. A rotation of x ^ y is that of x ^ that of y, so the first round, of a seed
 * and the lower half of the key, needs none for each candidate: both come rotated.
 */
export function rotate(block: number): number {
  return (block << 13) | (block >>> 19);
}

/**
 * MurmurHash3 of a number whose two blocks are mixed already, without its last step: the upper half is that of the
 * hash. Seed and lower half are rotated.
 */
function hashOpen(seed: number, lo: number, hi: number): number {
  let h = ((Math.imul(seed ^ lo, 5) + c3) | 0) ^ hi;
  h = ((Math.imul(rotate(h), 5) + c3) | 0) ^ 8;
  h = Math.imul(h ^ (h >>> 16), f1);
  return Math.imul(h ^ (h >>> 13), f2);
}

/** The last step, as a score, flipped (R3). */
function closed(open: number): number {
  return open ^ (open >>> 16) ^ flip;
}

/** The whole hash, signed, of a rotated seed and a rotated lower half. Where the time of a lookup goes. */
function hashRotated(seed: number, lo: number, hi: number): number {
  const open = hashOpen(seed, lo, hi);
  return open ^ (open >>> 16);
}

/** The same as a score, flipped (R3). */
export function scoreRotated(seed: number, lo: number, hi: number): number {
  return hashRotated(seed, lo, hi) ^ flip;
}

/** `value`, or the next free one upwards (after 2³² − 1 comes 0), which is then taken. */
export function raiseUntilFree(value: number, taken: Set<number>): number {
  let free = value >>> 0;
  while (taken.has(free)) free = (free + 1) >>> 0;
  taken.add(free);
  return free;
}
