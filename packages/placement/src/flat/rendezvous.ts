/**
 * Flat rendezvous hashing: a set of targets, compiled once, asked often. Every target gets a seed from
 * its name; a key is hashed with each seed; the order of the scores is the order of the replicas.
 *
 * T1. The answer depends on the set of names and weights, never on the order they were given in.
 * T2. The lowest score is the primary, the highest the first backup, the next highest the second, and
 *     so on (`roles: 'chronos'`, the default); `roles: 'rank'` goes from the highest down.
 * T3. Compiled targets never change; a lookup allocates nothing. A new view compiles a new one.
 */
import { PlacementError } from '../errors.ts';
import { checkCount, checkIterable, record, refuseUnknownFields, show } from '../input.ts';
import { compareNames, type Hash, hashText, mixBlock, murmur3 } from './hash.ts';
import { type Key, readKey } from './key.ts';
import { Ranker, raiseUntilFree, rotate, scoreRotated } from './ranker.ts';

/** Part of every view: members with another id here would place keys differently. */
export const algorithm = 'carillon-placement-1';

export interface TargetSpec {
  readonly name: string;
  /** Relative share of keys, default 1. 0: planned, gets nothing yet. */
  readonly weight?: number;
}

const targetFields = ['name', 'weight'] as const satisfies (keyof TargetSpec)[];

/** How a ranking becomes primary and backups; see T2. */
export type Roles = 'chronos' | 'rank';

export interface TargetsOptions {
  readonly roles?: Roles;
  /** Instead of MurmurHash3, for tests. */
  readonly hash?: Hash;
}

const optionFields = ['roles', 'hash'] as const satisfies (keyof TargetsOptions)[];

/** Where `pick` writes: indexes into `names`. */
export type Picks = Int32Array | Uint16Array;

/** Anything compiled that answers which targets hold a key: flat targets, topologies, skeletons. */
export interface Placer {
  /** The targets that the picked indexes stand for, in name order. */
  readonly names: readonly string[];
  /**
   * The first `count` replicas of a 64-bit key, primary first, into `out`. Returns how many: fewer when there are fewer
   * targets.
   */
  pick(hi: number, lo: number, count: number, out: Picks): number;
  /** The same for a text key. */
  pickText(key: string, count: number, out: Picks): number;
}

export interface Ranked {
  readonly name: string;
  /** The unsigned 32-bit score of key and target, before any weight. */
  readonly score: number;
}

export const targetsMax = 65_535;
/** Up to here the loop without branches is faster, by measurement. */
const few = 32;

/** Prepares targets for lookups. Throws PlacementError on duplicate or empty names and on bad weights. */
export function compileTargets(
  targets: Iterable<string | TargetSpec>,
  options: TargetsOptions = {},
): Targets {
  const what = 'The form of the options';
  refuseUnknownFields(record(options, 'The options of targets'), optionFields, { what });
  checkRoles(options.roles);
  return new Targets(readTargets(targets), options);
}

export class Targets implements Placer {
  /** Targets with a weight above 0, in name order. */
  readonly names: readonly string[];
  /** Targets with weight 0: known, not used. */
  readonly planned: readonly string[];
  /** The seed of each of `names`. */
  readonly seeds: Uint32Array;
  readonly #ranker: Ranker;
  readonly #roles: Roles;
  /** Index into `names` of each position; positions are sorted by weight, then name. */
  readonly #nameOf: Int32Array;
  readonly #rotatedSeeds: Int32Array;
  /** Two picks of equally weighted targets by number, the case of the timer cluster, have their own loop. */
  readonly #simple: boolean;

  constructor(specs: readonly Required<TargetSpec>[], options: TargetsOptions) {
    const hash = options.hash ?? murmur3;
    const seeds = seedsOf(specs, (name) => hash.text(name, 0));
    const live = specs.map((spec, i) => ({ ...spec, seed: seeds[i] as number }));
    const used = live.filter((target) => target.weight > 0);
    const positions = used.map((_, i) => i).toSorted((a, b) => weightAt(a) - weightAt(b) || a - b);
    function weightAt(i: number): number {
      return (used[i] as Required<TargetSpec>).weight;
    }
    this.names = used.map((target) => target.name);
    this.planned = live.filter((target) => target.weight === 0).map((target) => target.name);
    this.seeds = Uint32Array.from(used, (target) => target.seed);
    this.#roles = options.roles ?? 'chronos';
    this.#nameOf = Int32Array.from(positions);
    const positionSeeds = Int32Array.from(positions, (i) => this.seeds[i] as number);
    this.#rotatedSeeds = positionSeeds.map(rotate);
    const weights = Float64Array.from(positions, weightAt);
    this.#simple =
      options.hash === undefined && this.#roles === 'chronos' && weights[0] === weights.at(-1);
    this.#ranker = new Ranker({
      seeds: positionSeeds,
      weights,
      rangeMax: used.length,
      hash: options.hash ?? null,
    });
  }

  pick(hi: number, lo: number, count: number, out: Picks): number {
    checkCount(count);
    if (this.#simple && count <= 2) {
      return this.names.length <= few
        ? this.#pickTwoOfFew(hi, lo, count, out)
        : this.#pickTwo(hi, lo, count, out);
    }
    this.#ranker.readNumber(hi, lo);
    return this.#pickRead(count, out);
  }

  pickText(key: string, count: number, out: Picks): number {
    checkCount(count);
    this.#ranker.readText(key);
    return this.#pickRead(count, out);
  }

  /** All targets with their scores, primary first. For people and tests; allocates. */
  rank(key: Key): Ranked[] {
    const read = readKey(key);
    const out = new Int32Array(this.names.length);
    if (typeof read === 'string') this.#ranker.readText(read);
    else this.#ranker.readNumber(read.hi, read.lo);
    this.#pickRead(out.length, out);
    return Array.from(out, (index, i) => ({
      name: this.names[index] as string,
      score: this.#ranker.score(i),
    }));
  }

  #pickRead(count: number, out: Picks): number {
    const size = this.#nameOf.length;
    const k = count < size ? count : size;
    if (k === 0) return 0;
    if (this.#roles === 'chronos') this.#ranker.lowestFirst(0, size, k);
    else this.#ranker.highest(0, size, k);
    for (let i = 0; i < k; i++) out[i] = this.#nameOf[this.#ranker.order[i] as number] as number;
    return k;
  }

  /** One pass for the lowest and the highest score. */
  #pickTwo(hi: number, lo: number, count: number, out: Picks): number {
    const seeds = this.#rotatedSeeds;
    const size = seeds.length;
    const first = rotate(mixBlock(lo));
    const second = mixBlock(hi);
    let lowest = 0x7fff_ffff;
    let highest = -0x8000_0000;
    let lowestAt = 0;
    let highestAt = 0;
    for (let i = 0; i < size; i++) {
      const score = scoreRotated(seeds[i] as number, first, second);
      if (score <= lowest) {
        lowest = score;
        lowestAt = i;
      }
      if (score >= highest) {
        highest = score;
        highestAt = i;
      }
    }
    const k = count < size ? count : size;
    if (k > 0) out[0] = lowestAt;
    if (k > 1) out[1] = highestAt;
    return k;
  }

  /** The same without branches: faster while the extremes still change often, slower after that. */
  #pickTwoOfFew(hi: number, lo: number, count: number, out: Picks): number {
    const seeds = this.#rotatedSeeds;
    const size = seeds.length;
    const first = rotate(mixBlock(lo));
    const second = mixBlock(hi);
    let lowest = 0x7fff_ffff;
    let highest = -0x8000_0000;
    let lowestAt = 0;
    let highestAt = 0;
    for (let i = 0; i < size; i++) {
      const score = scoreRotated(seeds[i] as number, first, second);
      const lower = -Number(score <= lowest);
      const higher = -Number(score >= highest);
      lowest ^= (lowest ^ score) & lower;
      lowestAt ^= (lowestAt ^ i) & lower;
      highest ^= (highest ^ score) & higher;
      highestAt ^= (highestAt ^ i) & higher;
    }
    const k = count < size ? count : size;
    if (k > 0) out[0] = lowestAt;
    if (k > 1) out[1] = highestAt;
    return k;
  }
}

/** Seeds in name order: the hash of the name, or the next free value upwards if another has it already. */
export function seedsOf(
  sorted: readonly { readonly name: string }[],
  hash: (name: string) => number = (name) => hashText(name, 0),
): Uint32Array {
  const taken = new Set<number>();
  return Uint32Array.from(sorted, ({ name }) => raiseUntilFree(hash(name), taken));
}

function readTargets(targets: Iterable<string | TargetSpec>): Required<TargetSpec>[] {
  checkIterable(targets, 'The targets');
  const specs = Array.from(targets, (target) => {
    const spec = typeof target === 'string' ? { name: target } : target;
    record(spec, 'A target');
    const { name, weight = 1 }: TargetSpec = spec;
    checkName(name);
    refuseUnknownFields(spec, targetFields, { what: `The target "${name}"`, path: name });
    checkWeight(weight, name);
    return { name, weight };
  });
  if (specs.length > targetsMax) {
    throw new PlacementError(
      'too_large',
      `There are ${specs.length} targets; at most ${targetsMax} are allowed.`,
    );
  }
  specs.sort((a, b) => compareNames(a.name, b.name));
  for (const [i, { name }] of specs.entries()) {
    if (i > 0 && specs[i - 1]?.name === name) {
      throw new PlacementError(
        'duplicate_id',
        `The target "${name}" is listed twice; each name may appear once.`,
        name,
      );
    }
  }
  return specs;
}

/** Throws unless the name is a text that every UTF-8 encoder writes the same way. */
export function checkName(name: unknown, path = ''): asserts name is string {
  if (typeof name !== 'string' || name === '' || name.length > 256 || /\p{Surrogate}/u.test(name)) {
    throw new PlacementError(
      'bad_id',
      `${path === '' ? 'A target' : `A vertex under "${path}"`} has the name ${JSON.stringify(name)}; it must be a text of 1 to 256 characters without lone surrogates.`,
      path,
    );
  }
}

/** Throws for roles that do not exist. */
export function checkRoles(roles: unknown): void {
  if (roles === undefined || roles === 'rank' || roles === 'chronos') return;
  throw new PlacementError(
    'bad_input',
    `"roles" must be "rank" or "chronos", not ${JSON.stringify(roles) ?? show(roles)}.`,
  );
}

/** Throws unless the weight is 0 or a number that can be divided by. */
export function checkWeight(weight: unknown, path: string): asserts weight is number {
  const usable = typeof weight === 'number' && (weight === 0 || (weight >= 1e-6 && weight <= 1e9));
  if (usable) return;
  throw new PlacementError(
    'bad_weight',
    `"${path}" has the weight ${String(weight)}; it must be 0 (planned) or a number from 0.000001 to 1000000000.`,
    path,
  );
}
