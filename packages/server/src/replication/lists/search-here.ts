/**
 * One member's part of a list by due time: the records that it speaks for, by the time of their next attempt and then
 * by handle. Few matching records are looked up by their texts and sorted; otherwise the index by due is walked.
 * Without indexes, few enough records are all looked at, and many are refused in a sentence.
 */
import type { TimerRecord } from '@carillon/core';
import { type DuePlace, SearchIndex } from '../../store/search/search-index.ts';
import { frameBytesMax, recordBytes } from '../sizes.ts';
import type { ListAsk } from '../wire/list.ts';
import type { Found, Place, SearchAsk } from '../wire/search.ts';
import { eachCandidate } from './candidates.ts';
import { matches } from './list-filter.ts';
import { duePlanOf, eachLooked, type Lookup } from './lookup.ts';
import { Smallest } from './smallest.ts';
import { isInRange, type SearchParts, slackMs, startOf } from './search-range.ts';
import { speaksFor } from './tally.ts';
import { countHere } from './total.ts';

/** How long a member works at its part. */
const partMs = 500;
/** Handles of the index by due that are looked at in one turn. */
const sliceLength = 1000;
/** Without indexes a member looks at no more records than this. */
const scanCountMax = 200_000;

const nothing: Found = { entries: [], stopped: null, total: null, refused: '' };

export async function searchHere(parts: SearchParts, search: SearchAsk): Promise<Found> {
  const { store } = parts.replica;
  const total = search.wantTotal ? await countHere(parts, search) : null;
  if (search.ask.limit === 0) return { ...nothing, total };
  if (store.search === null || !store.search.whole) {
    const refused = refusal(parts);
    if (refused !== '') return { ...nothing, refused };
    return { ...(await pickSmallest(parts, search, null)), total };
  }
  const { lookup, walkCountMax } = duePlanOf(store, search.ask);
  const walked = walkCountMax > 0 ? await walkDue(parts, search, walkCountMax) : null;
  return { ...(walked ?? (await pickSmallest(parts, search, lookup))), total };
}

function refusal({ self, replica: { store } }: SearchParts): string {
  if (store.size <= scanCountMax) return '';
  if (store.search === null)
    return `A list by due time needs the search indexes, which are off at ${self} (search.indexes).`;
  return `The search indexes of ${self} are being built after its start; try again in a moment.`;
}

/** Records that a part has gathered, and whether it is full. */
class Part {
  readonly entries: { place: Place; record: TimerRecord }[] = [];
  private bytes = 0;
  private readonly parts: SearchParts;
  private readonly search: SearchAsk;
  private readonly distanceMs: number;

  constructor(parts: SearchParts, search: SearchAsk, distanceMs: number) {
    this.parts = parts;
    this.search = search;
    this.distanceMs = distanceMs;
  }

  get full(): boolean {
    return this.entries.length >= this.search.ask.limit || this.bytes >= frameBytesMax;
  }

  /** Takes the record if it matches. */
  offer(record: TimerRecord, place: DuePlace): void {
    const { ask } = this.search;
    if (record.namespace !== ask.namespace || !matches(record, ask)) return;
    if (
      !speaksFor(this.parts, record) ||
      !isInRange(record, place.ms, this.search, this.distanceMs)
    )
      return;
    this.entries.push({ place: this.wall(place), record });
    this.bytes += recordBytes(record);
  }

  wall({ ms, handle }: DuePlace): Place {
    return { ms: ms + this.distanceMs, handle };
  }
}

/** null: it passed `countMax` records without filling the page. */
async function walkDue(
  parts: SearchParts,
  search: SearchAsk,
  countMax: number,
): Promise<Found | null> {
  const { clock, self, replica } = parts;
  const { store, scans } = replica;
  const distanceMs = parts.distanceMs();
  const part = new Part(parts, search, distanceMs);
  const untilMs = clock.now() + partMs;
  const endMs = search.toMs + slackMs - distanceMs;
  let place = startOf(self, search, distanceMs);
  let passed = 0;
  for (;;) {
    const handles: number[] = [];
    store.search?.nextDue(search.ask.namespace, place, sliceLength, handles);
    for (const handle of handles) {
      const ms = SearchIndex.dueMs(store.retryOf(handle));
      if (ms >= endMs) return { ...nothing, entries: part.entries };
      place = { ms, handle };
      passed++;
      if (!speaksFor(parts, { replicas: store.replicasOf(handle) })) continue;
      const record = store.read(handle);
      part.offer(record, place);
      scans.count(record);
      if (part.full || scans.isFull) break;
    }
    const isLast = handles.length < sliceLength && place.handle === handles.at(-1);
    if (handles.length === 0 || isLast) return { ...nothing, entries: part.entries };
    if (part.full || clock.now() > untilMs)
      return { ...nothing, entries: part.entries, stopped: part.wall(place) };
    if (passed > countMax) return null;
    await scans.next();
  }
}

interface Candidate extends DuePlace {
  readonly hi: number;
  readonly lo: number;
}

function byPlace(a: DuePlace, b: DuePlace): number {
  return a.ms - b.ms || a.handle - b.handle;
}

/** Whether few of the candidates may match, so that each is compared before it is sorted. */
function isLoose(ask: ListAsk, lookup: Lookup | null): boolean {
  if (lookup === null || lookup.kind === 'prefix') return true;
  const { tag, tagPrefix, state, holder, receiver, failure } = ask;
  const asked = [tag ?? '', tagPrefix, state, holder, receiver, failure];
  return asked.filter((text) => text !== '').length > 1;
}

function isMatching(
  { replica: { store, scans } }: SearchParts,
  handle: number,
  ask: ListAsk,
): boolean {
  const record = store.read(handle);
  scans.count(record);
  return matches(record, ask);
}

/** The next of all candidates, which may come in any order: of the lookup, or of all records. */
async function pickSmallest(
  parts: SearchParts,
  search: SearchAsk,
  lookup: Lookup | null,
): Promise<Found> {
  const { clock, self, replica } = parts;
  const { store, scans } = replica;
  const distanceMs = parts.distanceMs();
  const part = new Part(parts, search, distanceMs);
  const untilMs = clock.now() + partMs;
  const endMs = search.toMs + slackMs - distanceMs;
  const isSparse = isLoose(search.ask, lookup);
  let place = startOf(self, search, distanceMs);
  for (;;) {
    const countMax = search.ask.limit * 2 + 1;
    const smallest = new Smallest<Candidate>(countMax, byPlace);
    const visit = (handle: number): boolean => {
      const ms = SearchIndex.dueMs(store.retryOf(handle));
      if (ms >= endMs || ms < place.ms || byPlace({ ms, handle }, place) <= 0) return true;
      if (store.namespaceOf(handle) !== search.ask.namespace) return true;
      if (isSparse && !isMatching(parts, handle, search.ask)) return true;
      smallest.add({ ms, handle, hi: store.hiOf(handle), lo: store.loOf(handle) });
      return true;
    };
    await (lookup === null
      ? eachCandidate(replica, search.ask, visit)
      : eachLooked(replica, lookup, visit));
    const found = smallest.all();
    for (const { hi, lo, ...one } of found) {
      if (scans.isFull) await scans.next();
      place = one;
      const record = replica.get(hi, lo);
      if (record === undefined) continue;
      scans.count(record);
      part.offer(record, one);
      if (part.full) break;
    }
    const isLast =
      found.length < countMax && place.handle === (found.at(-1)?.handle ?? place.handle);
    if (isLast) return { ...nothing, entries: part.entries };
    if (part.full || clock.now() > untilMs)
      return { ...nothing, entries: part.entries, stopped: part.wall(place) };
  }
}
