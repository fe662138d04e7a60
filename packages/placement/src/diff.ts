/**
 * The copies that move when one placement becomes another: how many, from where to where, per domain, and the least
 * that any scheme would have to move to get the same loads. Works on any two placers, over given keys or a sample.
 */
import { checkPlacer } from './built.ts';
import { invariant } from './errors.ts';
import { type Key, readKey } from './flat/key.ts';
import { type Placer, type Picks } from './flat/rendezvous.ts';
import { checkIterable, record, refuseUnknownFields, wholeNumber } from './input.ts';
import { replicasMax } from './policy.ts';
import { separator } from './topology.ts';

export interface DiffInput {
  /** Replicas per key. */
  readonly replicas: number;
  /** The keys themselves, or how many numbers from 0 on to try. */
  readonly keys: number | Iterable<Key>;
}

const inputFields = ['replicas', 'keys'] as const satisfies (keyof DiffInput)[];

/** Copies that go from one target to another. */
export interface Flow {
  readonly from: string;
  readonly to: string;
  readonly copies: number;
}

/** The copies of a domain or target before and after, and how many leave and arrive. */
export interface DomainChange {
  readonly path: string;
  readonly before: number;
  readonly after: number;
  readonly left: number;
  readonly arrived: number;
}

export interface Diff {
  readonly keys: number;
  /** Copies in the second placement. */
  readonly copies: number;
  /** Copies that are on another target than before. */
  readonly moved: number;
  /** The least number of copies that have to move for these loads: the sum of the gains of all targets. */
  readonly minimum: number;
  /** Keys whose primary is another target than before. */
  readonly primariesMoved: number;
  /** Copies that moved although both their old and their new target were in use before and after. */
  readonly betweenSurvivors: number;
  /** Keys that lost copies and got no new ones, or the reverse. */
  readonly copiesGained: number;
  readonly copiesLost: number;
  /** Most first. */
  readonly flows: readonly Flow[];
  /** Every domain and target that lost or got something, by path. */
  readonly domains: readonly DomainChange[];
}

/** At most this many keys are tried: a sample of a million is within 0.1 % of the truth. */
export const diffKeysMax = 10_000_000;

export function diff(before: Placer, after: Placer, input: DiffInput): Diff {
  checkInput(before, after, input);
  const tally = new Tally(before, after, input.replicas);
  if (typeof input.keys === 'number') {
    for (let lo = 0; lo < input.keys; lo++) tally.add({ hi: 0, lo });
  } else for (const key of input.keys) tally.add(key);
  return tally.result();
}

function checkInput(before: Placer, after: Placer, input: DiffInput): void {
  checkPlacer(before, 'The first argument of diff');
  checkPlacer(after, 'The second argument of diff');
  refuseUnknownFields(record(input, 'The input of diff'), inputFields, {
    what: 'The input of diff',
  });
  wholeNumber(input.replicas, 'The number of replicas', { min: 1, max: replicasMax });
  if (typeof input.keys === 'number') {
    wholeNumber(input.keys, 'The sample', { min: 1, max: diffKeysMax });
  } else checkIterable(input.keys, '"keys", unless it is the size of a sample,');
}

interface Load {
  before: number;
  after: number;
  left: number;
  arrived: number;
}

class Tally {
  readonly #before: Placer;
  readonly #after: Placer;
  readonly #oldPicks: Int32Array;
  readonly #newPicks: Int32Array;
  readonly #loads = new Map<string, Load>();
  readonly #flows = new Map<string, Map<string, number>>();
  #keys = 0;
  #copies = 0;
  #moved = 0;
  #primariesMoved = 0;
  #gained = 0;
  #lost = 0;

  constructor(before: Placer, after: Placer, replicas: number) {
    this.#before = before;
    this.#after = after;
    this.#oldPicks = new Int32Array(replicas);
    this.#newPicks = new Int32Array(replicas);
  }

  add(key: Key): void {
    const old = picked(this.#before, key, this.#oldPicks);
    const now = picked(this.#after, key, this.#newPicks);
    this.#keys++;
    this.#copies += now.length;
    if (old[0] !== now[0]) this.#primariesMoved++;
    for (const name of old) this.#load(name).before++;
    for (const name of now) this.#load(name).after++;
    const left = old.filter((name) => !now.includes(name));
    const arrived = now.filter((name) => !old.includes(name));
    invariant(
      old.length - left.length === now.length - arrived.length,
      'a copy stays, leaves or arrives',
    );
    this.#moved += arrived.length;
    this.#gained += Math.max(0, arrived.length - left.length);
    this.#lost += Math.max(0, left.length - arrived.length);
    for (const name of left) this.#load(name).left++;
    for (const [i, name] of arrived.entries()) {
      this.#load(name).arrived++;
      const from = left[i];
      if (from !== undefined) this.#flow(from, name);
    }
  }

  result(): Diff {
    const flows = [...this.#flows].flatMap(([from, tos]) =>
      [...tos].map(([to, copies]) => ({ from, to, copies })),
    );
    const inUse = (name: string) => {
      const { before, after } = this.#load(name);
      return before > 0 && after > 0;
    };
    const survivors = flows.filter(({ from, to }) => inUse(from) && inUse(to));
    return {
      keys: this.#keys,
      copies: this.#copies,
      moved: this.#moved,
      minimum: sum([...this.#loads.values()], ({ before, after }) => Math.max(0, after - before)),
      primariesMoved: this.#primariesMoved,
      betweenSurvivors: sum(survivors, ({ copies }) => copies),
      copiesGained: this.#gained,
      copiesLost: this.#lost,
      flows: flows.toSorted((a, b) => b.copies - a.copies),
      domains: this.#domains(),
    };
  }

  /** Loads added up along the paths. A move inside a domain leaves it and arrives in it, and so cancels out. */
  #domains(): DomainChange[] {
    const sums = new Map<string, Load>();
    const at = (path: string) => entry(sums, path);
    for (const [name, load] of this.#loads) {
      for (const path of prefixes(name)) {
        at(path).before += load.before;
        at(path).after += load.after;
        at(path).left += load.left;
        at(path).arrived += load.arrived;
      }
    }
    for (const [from, tos] of this.#flows) {
      for (const [to, copies] of tos) {
        const shared = prefixes(from).filter((path) => prefixes(to).includes(path));
        for (const path of shared) {
          at(path).left -= copies;
          at(path).arrived -= copies;
        }
      }
    }
    return [...sums]
      .map(([path, load]) => ({ path, ...load }))
      .filter(({ left, arrived }) => left + arrived > 0)
      .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  #load(name: string): Load {
    return entry(this.#loads, name);
  }

  #flow(from: string, to: string): void {
    const tos = this.#flows.get(from) ?? new Map<string, number>();
    tos.set(to, (tos.get(to) ?? 0) + 1);
    this.#flows.set(from, tos);
  }
}

function entry(loads: Map<string, Load>, name: string): Load {
  let load = loads.get(name);
  if (load === undefined) {
    load = { before: 0, after: 0, left: 0, arrived: 0 };
    loads.set(name, load);
  }
  return load;
}

function picked(placer: Placer, key: Key, out: Picks): string[] {
  const read = readKey(key);
  const size =
    typeof read === 'string'
      ? placer.pickText(read, out.length, out)
      : placer.pick(read.hi, read.lo, out.length, out);
  return Array.from({ length: size }, (_, i) => placer.names[out[i] as number] as string);
}

/** `a/b/c` → `a`, `a/b`, `a/b/c`. */
function prefixes(path: string): string[] {
  const ids = path.split(separator);
  return ids.map((_, i) => ids.slice(0, i + 1).join(separator));
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
