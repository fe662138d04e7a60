/**
 * How many records match that a member speaks for. Without a filter that is a counter; with one, the candidates are
 * counted for half a second at most, and the rest is estimated from the share of them that matched so far.
 */
import type { ListAsk } from '../wire/list.ts';
import type { SearchAsk, Total } from '../wire/search.ts';
import { SearchIndex } from '../../store/search/search-index.ts';
import { eachCandidate } from './candidates.ts';
import { matches } from './list-filter.ts';
import { eachLooked, rarestOf } from './lookup.ts';
import { orderStart } from './search-order.ts';
import {
  isInRange,
  isInside,
  isOutside,
  type SearchParts,
  slackMs,
  startOf,
} from './search-range.ts';
import { speaksFor } from './tally.ts';

const countMs = 500;
const sliceLength = 2000;
/** The clock is read after this many records. */
const readCount = 64;

export async function countHere(parts: SearchParts, search: SearchAsk): Promise<Total> {
  const { clock, replica } = parts;
  const { store, usage, scans } = replica;
  const { ask } = search;
  if (isPlain(search)) {
    const isSilent = (name: string): boolean => parts.peers?.silent(name) ?? true;
    const { timers } = replica.backups.spokenFor(isSilent, ask.namespace);
    return { count: usage.of(ask.namespace).primaries + timers, exact: true };
  }
  const distanceMs = parts.distanceMs();
  const untilMs = clock.now() + countMs;
  let seen = 0;
  let count = 0;
  let isOver = false;
  const visit = (handle: number): boolean => {
    if (++seen % readCount === 0 && clock.now() > untilMs) isOver = true;
    if (isOver) return false;
    if (store.namespaceOf(handle) !== ask.namespace) return true;
    const ms = SearchIndex.dueMs(store.retryOf(handle));
    if (isOutside(ms + distanceMs, search)) return true;
    if (!speaksFor(parts, { replicas: store.replicasOf(handle) })) return true;
    if (!isFiltered(ask) && isInside(ms + distanceMs, search)) count++;
    else {
      const record = store.read(handle);
      scans.count(record);
      if (matches(record, ask) && isInRange(record, ms, search, distanceMs)) count++;
    }
    return true;
  };
  const expected = await eachPossible(parts, search, visit);
  if (!isOver) return { count, exact: true };
  return { count: Math.round((count / Math.max(1, seen)) * expected), exact: false };
}

/** About how many there are. */
async function eachPossible(
  parts: SearchParts,
  search: SearchAsk,
  visit: (handle: number) => boolean,
): Promise<number> {
  const { replica, self } = parts;
  const { ask } = search;
  const { search: index } = replica.store;
  const lookup = rarestOf(replica.store, ask);
  if (lookup !== null) {
    await eachLooked(replica, lookup, visit);
    return lookup.count;
  }
  if (index === null || !index.whole) {
    await eachCandidate(replica, ask, visit);
    return replica.usage.of(ask.namespace).live;
  }
  const distanceMs = parts.distanceMs();
  const endMs = search.toMs - distanceMs + slackMs;
  const start = startOf(self, { ...search, after: orderStart }, distanceMs);
  const { store, scans } = replica;
  for (let place = start; ; ) {
    const handles: number[] = [];
    let next = index.nextDue(ask.namespace, place, sliceLength, handles);
    for (const handle of handles) {
      if (!visit(handle)) return index.countDue(ask.namespace, start.ms, endMs);
      if (!scans.isFull) continue;
      next = { ms: SearchIndex.dueMs(store.retryOf(handle)), handle };
      break;
    }
    if (next === null || next.ms >= endMs) return handles.length;
    place = next;
    await scans.next();
  }
}

/** Whether the body or the state of a record must be looked at. */
function isFiltered({ tag, tagPrefix, state, holder, receiver, failure }: ListAsk): boolean {
  return tag !== null || [tagPrefix, state, holder, receiver, failure].some((text) => text !== '');
}

function isPlain({ ask, fromMs, toMs }: SearchAsk): boolean {
  const isEndless = fromMs === Number.NEGATIVE_INFINITY && toMs === Number.POSITIVE_INFINITY;
  return isEndless && !isFiltered(ask);
}
