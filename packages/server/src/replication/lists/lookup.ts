/**
 * Finds the few records that may match a filter, by the search indexes of the store: by the rarest of its texts.
 * Whether a record does match is for `list-filter.ts` to say.
 */
import { compareNumbers, hashOf } from '../../store/number-index.ts';
import type { Lookup as TextLookup, TextPlace } from '../../store/search/search-index.ts';
import type { Store } from '../../store/store.ts';
import type { Replica } from '../replica.ts';
import type { ListAsk } from '../wire/list.ts';
import type { Numbered } from '../wire/parts.ts';
import { originOf } from './list-filter.ts';
import { Smallest } from './smallest.ts';

export interface Lookup extends TextLookup {
  /** About how many records have the text. */
  readonly count: number;
}

/** Handles of the index that are looked at in one turn of the event loop. */
const sliceLength = 4000;
/** So many candidates are read and sorted in about half a second. */
const sortedCountMax = 1_000_000;
/** Reading and comparing a record is as dear as looking at this many handles. */
const readCost = 8;

/** The lookup to use; null: a walk over all records is no dearer, or the indexes are off or not yet built. */
export function lookupOf(store: Store, ask: ListAsk): Lookup | null {
  const lookup = rarestOf(store, ask);
  if (lookup === null) return null;
  const walked = (ask.limit * store.size) / Math.max(1, lookup.count);
  return lookup.count <= Math.max(sliceLength, walked * readCost) ? lookup : null;
}

export interface DuePlan {
  /** null: the filter has no text that is indexed. */
  readonly lookup: Lookup | null;
  /** How many records a walk by due may pass before the lookup is sorted instead; 0: no walk. */
  readonly walkCountMax: number;
}

/**
 * How to find the next records by due time. A walk is cheap where many records match, unless they are all far behind:
 * then it is given up when it has cost as much as sorting all candidates would. Very many candidates are never sorted.
 */
export function duePlanOf(store: Store, ask: ListAsk): DuePlan {
  const lookup = rarestOf(store, ask);
  if (lookup === null || lookup.count > sortedCountMax) {
    return { lookup, walkCountMax: Number.POSITIVE_INFINITY };
  }
  const all = store.search?.countOf(ask.namespace) ?? 0;
  const walked = (ask.limit * all) / Math.max(1, lookup.count);
  return { lookup, walkCountMax: walked * readCost < lookup.count ? lookup.count / 2 : 0 };
}

/** The text of the filter that the fewest records have; null where it has none. */
export function rarestOf({ search }: Store, ask: ListAsk): Lookup | null {
  if (search === null || !search.whole || ask.state === 'dead') return null;
  const { namespace } = ask;
  let rarest: Lookup | null = null;
  for (const [kind, text] of textsOf(ask)) {
    const count = search.countText({ namespace, kind, text });
    if (rarest === null || count < rarest.count) rarest = { namespace, kind, text, count };
  }
  return rarest;
}

function textsOf(ask: ListAsk): (readonly [TextLookup['kind'], string])[] {
  const { tag, tagPrefix, receiver, state, failure } = ask;
  const texts: (readonly [TextLookup['kind'], string])[] = [];
  if (tag !== null) texts.push(['tag', tag]);
  if (tagPrefix !== '') texts.push(['prefix', tagPrefix]);
  if (receiver !== '') texts.push(['receiver', originOf(receiver)]);
  if (state === 'retrying' || state === 'failing' || failure !== '') texts.push(['failing', '']);
  return texts;
}

interface Ordered extends Numbered {
  readonly hash: number;
}

/**
 * The next numbers behind `after` in the order of all lists, about as many as asked for, and whether there are more.
 */
export async function nearestNumbers(
  { store, scans }: Pick<Replica, 'store' | 'scans'>,
  lookup: Lookup,
  after: Numbered | null,
  limit: number,
): Promise<{ readonly nearest: readonly Numbered[]; readonly more: boolean }> {
  const order = (a: Ordered, b: Ordered): number => a.hash - b.hash || compareNumbers(a, b);
  const smallest = new Smallest<Ordered>(limit + 1, order);
  const from = after === null ? null : { ...after, hash: hashOf(after.hi, after.lo) };
  await eachLooked({ store, scans }, lookup, (handle) => {
    const [hi, lo] = [store.hiOf(handle), store.loOf(handle)];
    const one = { hi, lo, hash: hashOf(hi, lo) };
    if (from === null || order(one, from) > 0) smallest.add(one);
    return true;
  });
  const found = smallest.all();
  return { nearest: found.slice(0, limit), more: found.length > limit };
}

/**
 * Shows each handle of a lookup once, in slices, each in a turn of its own, until `visit` returns false. `visit` counts
 * the records that it reads.
 */
export async function eachLooked(
  { store: { search }, scans }: Pick<Replica, 'store' | 'scans'>,
  lookup: Lookup,
  visit: (handle: number) => boolean,
): Promise<void> {
  if (search === null) return;
  // Only a record with several tags that begin alike comes more than once.
  const seen = lookup.kind === 'prefix' ? new HandleSet(search.handleEnd) : null;
  let place: TextPlace | null = null;
  do {
    const handles: number[] = [];
    const before: TextPlace | null = place;
    place = search.nextText(lookup, before, sliceLength, handles);
    for (const [i, handle] of handles.entries()) {
      if (seen?.add(handle) === false) continue;
      if (!visit(handle)) return;
      if (!scans.isFull) continue;
      place = search.nextText(lookup, before, i + 1, []);
      break;
    }
    if (place !== null) await scans.next();
  } while (place !== null);
}

/** One bit for each handle. */
class HandleSet {
  private readonly bits: Uint32Array;

  /** Handles from `end` on, of records that came later, are not told apart. */
  constructor(end: number) {
    this.bits = new Uint32Array(Math.ceil(end / 32));
  }

  /** False where it was here. */
  add(handle: number): boolean {
    const word = handle >>> 5;
    const bit = 1 << (handle & 31);
    const had = this.bits[word];
    if (had === undefined) return true;
    this.bits[word] = had | bit;
    return (had & bit) === 0;
  }
}
