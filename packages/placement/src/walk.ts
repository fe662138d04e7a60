/**
 * The walk down a compiled tree that turns a key into replicas. At each level: rank the candidates, hand out the
 * replicas one by one in rank order, round after round, never more than a child has room for; go on below each child;
 * interleave the answers of the children, first of each first.
 *
 * W1. A walk allocates nothing: every depth has its own frame in the scratch arrays, and one path is open at a time.
 * W2. Up children are used before hollow ones; hollow ones hold only copies that the up ones cannot.
 * W3. Where every child gets the same share at any rank, ranking decides only the order. With `roles: 'rank'` that
 *     order is then taken from the scores of the children's own first replicas, which are known anyway: no hash is
 *     spent. With `roles: 'chronos'` the children are always ranked themselves, so that a change inside one child
 *     cannot turn a primary into a backup.
 * W4. `explain.ts` is the same rule written for reading; tests hold the two together.
 */
import { invariant } from './errors.ts';
import { checkCount } from './input.ts';
import type { Hash } from './flat/hash.ts';
import { type CheckedPolicy, replicasMax } from './policy.ts';
import { Ranker } from './flat/ranker.ts';
import type { Tree } from './tree.ts';

export class Walk {
  readonly #tree: Tree;
  readonly #ranker: Ranker;
  readonly #lastDepth: number;
  readonly #width: readonly number[];
  readonly #chronos: boolean;
  /** Chosen children, their shares and first scores: one frame of `rangeMax × 2` a depth. */
  readonly #child: Int32Array;
  readonly #share: Int32Array;
  readonly #score: Float64Array;
  readonly #frame: number;
  readonly #rooms: Int32Array;
  /** Answers of the children before they are interleaved: one frame of `#listFrame` a depth. */
  readonly #list: Int32Array;
  readonly #listFrame: number;
  /** Score of the first replica of the last branch walked, at the first level with more than one candidate. */
  #firstScore = 0;
  /** Whether the last `#choose` had more than one candidate, so that `#firstScore` is its own. */
  #ranked = false;

  constructor(tree: Tree, policy: CheckedPolicy, hash: Hash | null) {
    this.#tree = tree;
    this.#lastDepth = tree.depthCount - 1;
    this.#width = policy.width;
    this.#chronos = policy.roles === 'chronos';
    this.#ranker = new Ranker({ ...tree, hash });
    this.#frame = tree.rangeMax * 2;
    this.#rooms = new Int32Array(this.#frame);
    this.#child = new Int32Array(this.#frame * tree.depthCount);
    this.#share = new Int32Array(this.#frame * tree.depthCount);
    this.#score = new Float64Array(this.#frame * tree.depthCount);
    this.#listFrame = Math.min(replicasMax, tree.room[0] as number);
    this.#list = new Int32Array(this.#listFrame * (tree.depthCount + 1));
  }

  /** Live targets that this policy can reach. */
  get room(): number {
    return this.#tree.room[0] as number;
  }

  /** Replicas of a 64-bit key: returns how many; `replica` reads them. */
  number(hi: number, lo: number, count: number): number {
    this.#ranker.readNumber(hi, lo);
    return this.#start(count);
  }

  text(key: string, count: number): number {
    this.#ranker.readText(key);
    return this.#start(count);
  }

  /** A target index of the last answer; 0 is the primary. */
  replica(i: number): number {
    return this.#list[i] as number;
  }

  #start(count: number): number {
    checkCount(count);
    const size = Math.min(count, this.#listFrame);
    if (size === 0) return 0;
    this.#place(0, size, 0, 0);
    return size;
  }

  /** Writes the `count` replicas below a vertex to `#list` from `to` on. */
  #place(vertex: number, count: number, depth: number, to: number): void {
    if (count === 1) {
      this.#list[to] = this.#descend(vertex);
      return;
    }
    const { first, upCount, upRoom } = this.#tree;
    let at = vertex;
    let level = depth;
    while (level < this.#lastDepth && upCount[at] === 1 && (upRoom[at] as number) >= count) {
      at = first[at] as number;
      level++;
    }
    const up = upCount[at] as number;
    if (level === this.#lastDepth) this.#targets(at, count, to);
    else if (up <= count && this.#sharesAreEqual(at, count, level))
      this.#evenly(at, count, level, to);
    else if (count <= up && count <= (this.#width[level] as number)) this.#oneEach(at, count, to);
    else this.#below(this.#choose(at, count, level), level, to);
  }

  /** Whether every up child gets the same share at any rank (W3). */
  #sharesAreEqual(vertex: number, count: number, depth: number): boolean {
    const { first, upCount, hollowCount, upRoomMin, weights } = this.#tree;
    const up = upCount[vertex] as number;
    const start = first[vertex] as number;
    return (
      !this.#chronos &&
      up > 1 &&
      count % up === 0 &&
      count <= up * (upRoomMin[vertex] as number) &&
      (this.#width[depth] as number) >= up + (hollowCount[vertex] as number) &&
      weights[start] === weights[start + up - 1]
    );
  }

  /** The same share for every up child, in the order of the children's own first scores (W3). */
  #evenly(vertex: number, count: number, depth: number, to: number): void {
    const up = this.#tree.upCount[vertex] as number;
    const start = this.#tree.first[vertex] as number;
    const share = Math.floor(count / up);
    const base = depth * this.#frame;
    let from = (depth + 1) * this.#listFrame;
    for (let i = base; i < base + up; i++) {
      this.#place(start + i - base, share, depth + 1, from);
      this.#score[i] = this.#firstScore;
      this.#share[i] = share;
      this.#child[i] = from;
      from += share;
    }
    this.#sortByScore(base, up);
    this.#firstScore = this.#score[base] as number;
    this.#interleave(base, up, to);
  }

  /** One replica for each of the best `count` children: nothing has to be handed out. */
  #oneEach(vertex: number, count: number, to: number): void {
    const list = this.#list;
    this.#rank(this.#tree.first[vertex] as number, this.#tree.upCount[vertex] as number, count);
    const score = this.#firstScore;
    const order = this.#ranker.order;
    for (let i = 0; i < count; i++) list[to + i] = order[i] as number;
    for (let i = 0; i < count; i++) list[to + i] = this.#descend(list[to + i] as number);
    this.#firstScore = score;
  }

  /** One replica: the best child, and again, down to a target. */
  #descend(vertex: number): number {
    const { target, first, upCount, hollowCount } = this.#tree;
    let at = vertex;
    let score = -1;
    while ((target[at] as number) < 0) {
      const start = first[at] as number;
      const up = upCount[at] as number;
      const count = up > 0 ? up : (hollowCount[at] as number);
      if (count === 1 && (target[start] as number) < 0) {
        at = start;
        continue;
      }
      if (this.#chronos) this.#ranker.lowestFirst(start, count, 1);
      else this.#ranker.highest(start, count, 1);
      at = this.#ranker.order[0] as number;
      if (score < 0) score = this.#ranker.score(0);
    }
    this.#firstScore = score;
    return target[at] as number;
  }

  #targets(vertex: number, count: number, to: number): void {
    const start = this.#tree.first[vertex] as number;
    this.#rank(start, this.#tree.upCount[vertex] as number, count);
    const order = this.#ranker.order;
    for (let i = 0; i < count; i++) {
      this.#list[to + i] = this.#tree.target[order[i] as number] as number;
    }
  }

  #rank(start: number, count: number, k: number): void {
    if (this.#chronos) this.#ranker.lowestFirst(start, count, k);
    else this.#ranker.highest(start, count, k);
    this.#firstScore = this.#ranker.score(0);
  }

  /** Fills the frame of this depth with children, in order, and their shares; returns how many. */
  #choose(vertex: number, count: number, depth: number): number {
    const tree = this.#tree;
    const base = depth * this.#frame;
    const start = tree.first[vertex] as number;
    const up = tree.upCount[vertex] as number;
    this.#ranked = true;
    if ((this.#width[depth] as number) < up + (tree.hollowCount[vertex] as number)) {
      return this.#chooseWithin(vertex, count, depth);
    }
    if ((tree.upRoom[vertex] as number) < count) return this.#chooseAll(vertex, count, depth);
    const chosen = Math.min(up, count);
    this.#rank(start, up, chosen);
    this.#copyOrder(base, chosen);
    this.#handOut(base, chosen, count);
    return chosen;
  }

  /** The up children hold all they can, hollow ones the rest (W2). */
  #chooseAll(vertex: number, count: number, depth: number): number {
    const { first, upCount, hollowCount, upRoom } = this.#tree;
    const base = depth * this.#frame;
    const up = upCount[vertex] as number;
    const hollow = hollowCount[vertex] as number;
    const start = first[vertex] as number;
    const rest = count - (upRoom[vertex] as number);
    this.#ranked = up + hollow > 1;
    // Ranked first, so that the first score left behind is that of the up children if there are any.
    this.#rank(start + up, hollow, Math.min(hollow, rest));
    this.#copyOrder(base + up, Math.min(hollow, rest));
    this.#handOut(base + up, Math.min(hollow, rest), rest);
    if (up > 0) {
      this.#rank(start, up, up);
      this.#copyOrder(base, up);
      this.#handOut(base, up, upRoom[vertex] as number);
    }
    return up + Math.min(hollow, rest);
  }

  /** At most `width` children: in rank order, skipping one only if the rest could then not hold everything. */
  #chooseWithin(vertex: number, count: number, depth: number): number {
    const { first, upCount, hollowCount, upRoom } = this.#tree;
    const base = depth * this.#frame;
    const up = upCount[vertex] as number;
    const hollow = (upRoom[vertex] as number) < count ? (hollowCount[vertex] as number) : 0;
    const start = first[vertex] as number;
    this.#ranked = up + hollow > 1;
    if (hollow > 0) {
      this.#rank(start + up, hollow, hollow);
      this.#copyOrder(base + up, hollow);
    }
    if (up > 0) {
      this.#rank(start, up, up);
      this.#copyOrder(base, up);
    }
    const width = this.#width[depth] as number;
    const chosen = this.#keepFitting(base, up + hollow, width, count);
    this.#firstScore = this.#score[base] as number;
    const chosenUp = this.#countUp(base, chosen, start + up);
    const upHolds = Math.min(count, this.#roomOf(base, chosenUp));
    this.#handOut(base, chosenUp, upHolds);
    if (count > upHolds) this.#handOut(base + chosenUp, chosen - chosenUp, count - upHolds);
    return count > upHolds ? chosen : chosenUp;
  }

  #countUp(base: number, size: number, firstHollow: number): number {
    let up = 0;
    while (up < size && (this.#child[base + up] as number) < firstHollow) up++;
    return up;
  }

  #roomOf(base: number, size: number): number {
    let room = 0;
    for (let i = 0; i < size; i++)
      room += this.#tree.room[this.#child[base + i] as number] as number;
    return room;
  }

  /** Keeps, in order, the first children with which `width` of them can still hold `count`. */
  #keepFitting(base: number, size: number, width: number, count: number): number {
    const child = this.#child;
    let kept = 0;
    let held = 0;
    for (let i = 0; i < size && kept < width && kept < count; i++) {
      const room = this.#tree.room[child[base + i] as number] as number;
      const later = this.#roomiest(base + i + 1, base + size, width - kept - 1);
      if (held + room + later < count) continue;
      child[base + kept] = child[base + i] as number;
      this.#score[base + kept] = this.#score[base + i] as number;
      kept++;
      held += room;
    }
    return kept;
  }

  /** The room of the `k` roomiest children of a part of the frame together. */
  #roomiest(from: number, end: number, k: number): number {
    const rooms = this.#rooms;
    const size = end - from;
    for (let i = 0; i < size; i++) {
      const room = this.#tree.room[this.#child[from + i] as number] as number;
      let at = i;
      while (at > 0 && (rooms[at - 1] as number) < room) {
        rooms[at] = rooms[at - 1] as number;
        at--;
      }
      rooms[at] = room;
    }
    let total = 0;
    for (let i = 0; i < size && i < k; i++) total += rooms[i] as number;
    return total;
  }

  #copyOrder(base: number, size: number): void {
    const order = this.#ranker.order;
    for (let i = 0; i < size; i++) {
      this.#child[base + i] = order[i] as number;
      this.#score[base + i] = this.#ranker.score(i);
    }
  }

  /** One replica each in order, round after round, up to each one's room. */
  #handOut(base: number, size: number, count: number): void {
    const room = this.#tree.room;
    for (let i = 0; i < size; i++) this.#share[base + i] = 0;
    for (let left = count; left > 0; ) {
      const before = left;
      for (let i = base; i < base + size && left > 0; i++) {
        if ((this.#share[i] as number) === (room[this.#child[i] as number] as number)) continue;
        this.#share[i] = (this.#share[i] as number) + 1;
        left--;
      }
      invariant(left < before, 'the chosen children have room for every replica');
    }
  }

  /** Walks below each chosen child and interleaves the answers into `to`. */
  #below(size: number, depth: number, to: number): void {
    const base = depth * this.#frame;
    const ranked = this.#ranked;
    const score = this.#firstScore;
    let from = (depth + 1) * this.#listFrame;
    for (let i = 0; i < size; i++) {
      const share = this.#share[base + i] as number;
      this.#place(this.#child[base + i] as number, share, depth + 1, from);
      this.#score[base + i] = this.#firstScore;
      // From here on the frame remembers where the list of this child starts.
      this.#child[base + i] = from;
      from += share;
    }
    this.#firstScore = ranked ? score : (this.#score[base] as number);
    this.#interleave(base, size, to);
  }

  /** Highest first score first; few children, so insertion does. */
  #sortByScore(base: number, size: number): void {
    for (let i = base + 1; i < base + size; i++) {
      const score = this.#score[i] as number;
      const list = this.#child[i] as number;
      let at = i;
      while (at > base && (this.#score[at - 1] as number) < score) {
        this.#score[at] = this.#score[at - 1] as number;
        this.#child[at] = this.#child[at - 1] as number;
        at--;
      }
      this.#score[at] = score;
      this.#child[at] = list;
    }
  }

  #interleave(base: number, size: number, to: number): void {
    let at = to;
    for (let round = 0, more = true; more; round++) {
      more = false;
      for (let i = base; i < base + size; i++) {
        const share = this.#share[i] as number;
        if (share <= round) continue;
        this.#list[at++] = this.#list[(this.#child[i] as number) + round] as number;
        if (share > round + 1) more = true;
      }
    }
  }
}
