/**
 * Lists in the order that all stores share. Every member gives its records after the cursor; the pages are merged and
 * of each timer the newest copy is kept, so that a dead primary hides nothing. The part of one member is bounded in
 * bytes, and so is a page, which is made of several such rounds: it is full, unless it is the last or its bound in
 * bytes was reached, and never empty while more follow.
 *
 * Where few records match, they are looked up in the search indexes (`lookup.ts`); where many do, or the indexes are
 * off, the records are walked.
 */
import { compareProgress, hex16, parseHex16, State, type TimerRecord } from '@carillon/core';
import { compareNumbers } from '../../store/number-index.ts';
import type { ReadParts } from '../read.ts';
import type { Replica } from '../replica.ts';
import { frameBytesMax, pageBytesMax, recordBytes } from '../sizes.ts';
import type { ListAsk } from '../wire/list.ts';
import type { Numbered } from '../wire/parts.ts';
import { matches } from './list-filter.ts';
import { type Lookup, lookupOf, nearestNumbers } from './lookup.ts';
import { Patience } from './patience.ts';

/** How long a member works at its part. */
const partMs = 500;
/** A scan gives way to other work after this many records. */
const sliceLength = 2000;
/** A member's part stops after scanning this many records without filling up; the next round goes on from there. */
const scanMax = 200_000;

export interface RecordPage {
  readonly records: readonly TimerRecord[];
  readonly cursor: string | null;
  readonly missing: readonly string[];
}

/**
 * One page over the whole cluster: with fewer records than asked for, and a cursor, where more would be too many bytes.
 */
export async function listEverywhere(
  parts: ReadParts,
  ask: ListAsk,
  names: readonly string[],
): Promise<RecordPage> {
  const patience = new Patience(parts.clock);
  const missing: string[] = [];
  const records: TimerRecord[] = [];
  let bytes = 0;
  let { cursor } = ask;
  for (;;) {
    const left = { ...ask, cursor, limit: ask.limit - records.length };
    const answering = names.filter((name) => !missing.includes(name));
    const bytesMax = pageBytesMax - bytes;
    const round = await listRound(parts, left, { names: answering, bytesMax });
    missing.push(...round.missing);
    for (const record of round.records) {
      records.push(record);
      bytes += recordBytes(record);
    }
    const full = records.length >= ask.limit || bytes >= pageBytesMax;
    if (full || round.cursor === null || patience.isOver(records.length))
      return { records, cursor: round.cursor, missing };
    ({ cursor } = round);
  }
}

interface RoundOptions {
  readonly names: readonly string[];
  readonly bytesMax: number;
}

/** Asks every member once. */
async function listRound(
  parts: ReadParts,
  ask: ListAsk,
  { names, bytesMax }: RoundOptions,
): Promise<RecordPage> {
  // Asks for one record more than the page holds: if it does not come, the page is the last.
  const asked = { ...ask, limit: ask.limit + 1 };
  const pages = await Promise.all(
    names.map(async (name) => ({ name, page: await listAt(parts, name, asked) })),
  );
  const missing = pages.filter(({ page }) => page === null).map(({ name }) => name);
  const answers = pages.flatMap(({ page }) => (page === null ? [] : [page]));
  return { ...mergePages(answers, ask, bytesMax), missing };
}

interface OnePage {
  readonly records: readonly TimerRecord[];
  /** Where the scan stopped; null at the end. */
  readonly stopped: string | null;
}

/** Everything up to where the first unfinished scan stopped is complete; the rest is for the next page. */
function mergePages(
  pages: readonly OnePage[],
  ask: ListAsk,
  bytesMax: number,
): { records: TimerRecord[]; cursor: string | null } {
  let edge: Numbered | null = null;
  for (const { stopped } of pages) {
    const at = stopped === null ? null : parseHex16(stopped);
    if (at !== null && (edge === null || compareNumbers(at, edge) < 0)) edge = at;
  }
  const newest = new Map<string, TimerRecord>();
  for (const record of pages.flatMap((page) => page.records)) {
    if (edge !== null && compareNumbers(record, edge) > 0) continue;
    const key = hex16(record.hi, record.lo);
    const known = newest.get(key);
    if (known === undefined || compareProgress(record, known) > 0) newest.set(key, record);
  }
  const sorted = [...newest.values()].toSorted(compareNumbers);
  const records = sorted.slice(0, Math.min(ask.limit, fittingCount(sorted, bytesMax)));
  const last = records.at(-1);
  if (sorted.length > records.length && last !== undefined) {
    return { records: matching(records, ask), cursor: hex16(last.hi, last.lo) };
  }
  return {
    records: matching(records, ask),
    cursor: edge === null ? null : hex16(edge.hi, edge.lo),
  };
}

/** How many of the first records there is room for; at least one. */
function fittingCount(records: readonly TimerRecord[], bytesMax: number): number {
  let bytes = 0;
  const over = records.findIndex((record, i) => {
    bytes += recordBytes(record);
    return i > 0 && bytes > bytesMax;
  });
  return over === -1 ? records.length : over;
}

/** Filters again: the newest copy of a timer may not match although an older one did. */
function matching(records: readonly TimerRecord[], ask: ListAsk): TimerRecord[] {
  return records.filter((record) => matches(record, ask));
}

async function listAt(parts: ReadParts, name: string, ask: ListAsk): Promise<OnePage | null> {
  if (name === parts.self) return listHere(parts, ask);
  const { peers } = parts;
  if (peers === null) return null;
  return new Promise((resolve) => {
    peers.send(name, { type: 'list', ask }, (answer) => {
      if (answer?.type !== 'records') return resolve(null);
      resolve({ records: answer.records, stopped: answer.stopped === '' ? null : answer.stopped });
    });
  });
}

/** This member's part of a page: its records of the asked kind after the cursor, up to a bound in bytes. */
export async function listHere(parts: ReadParts, ask: ListAsk): Promise<OnePage> {
  const { clock, replica } = parts;
  const lookup = lookupOf(replica.store, ask);
  if (lookup !== null) return listLooked(parts, ask, lookup);
  const found: Found = { records: [], bytes: 0, scanned: 0 };
  const untilMs = clock.now() + partMs;
  let after: Numbered | null = parseHex16(ask.cursor);
  for (;;) {
    const { records } = found;
    after = scanSlice(parts.replica, ask, after, found);
    if (after === null) return { records, stopped: null };
    const full = records.length >= ask.limit || found.bytes >= frameBytesMax;
    if (full || found.scanned >= scanMax || clock.now() > untilMs)
      return { records, stopped: hex16(after.hi, after.lo) };
    await replica.scans.next();
  }
}

/** The same from the records that the search indexes give, which are few. */
async function listLooked(parts: ReadParts, ask: ListAsk, lookup: Lookup): Promise<OnePage> {
  const { clock, replica } = parts;
  const records: TimerRecord[] = [];
  const untilMs = clock.now() + partMs;
  let bytes = 0;
  let after: Numbered | null = parseHex16(ask.cursor);
  for (;;) {
    const { nearest, more } = await nearestNumbers(replica, lookup, after, ask.limit);
    for (const number of nearest) {
      if (replica.scans.isFull) await replica.scans.next();
      after = number;
      const record = replica.get(number.hi, number.lo);
      if (record === undefined) continue;
      replica.scans.count(record);
      if (record.namespace !== ask.namespace || !matches(record, ask)) continue;
      records.push(record);
      bytes += recordBytes(record);
      if (records.length >= ask.limit || bytes >= frameBytesMax) break;
    }
    const isLast = !more && (nearest.length === 0 || after === nearest.at(-1));
    if (isLast || after === null) return { records, stopped: null };
    const full = records.length >= ask.limit || bytes >= frameBytesMax;
    if (full || clock.now() > untilMs) return { records, stopped: hex16(after.hi, after.lo) };
  }
}

interface Found {
  readonly records: TimerRecord[];
  /** Of the records found. */
  bytes: number;
  scanned: number;
}

/**
 * Shows every record of the namespace in slices, between which others have their turns. Records of a list of dead
 * letters alone.
 */
export async function eachSlice(
  { replica }: ReadParts,
  ask: ListAsk,
  visit: (record: TimerRecord) => void,
): Promise<void> {
  let after: Numbered | null = null;
  do {
    after = visitSlice(replica, ask, after, visit);
    await replica.scans.next();
  } while (after !== null);
}

/** As much as one turn may take. Where it stopped; null at the end. */
function visitSlice(
  { store, scans }: Replica,
  ask: ListAsk,
  after: Numbered | null,
  visit: (record: TimerRecord) => void,
): Numbered | null {
  const handles: number[] = [];
  const next = nextSlice(store, ask, after, handles);
  for (const handle of handles) {
    if (!isListed(store, handle, ask)) continue;
    const record = store.read(handle);
    visit(record);
    scans.count(record);
    if (scans.isFull) return { hi: record.hi, lo: record.lo };
  }
  return next;
}

function nextSlice(
  store: Replica['store'],
  { state }: ListAsk,
  after: Numbered | null,
  handles: number[],
): Numbered | null {
  if (state === 'dead') return store.nextLetters(after, sliceLength, handles);
  return store.next(after, sliceLength, handles);
}

function isListed(store: Replica['store'], handle: number, { namespace }: ListAsk): boolean {
  return store.stateOf(handle) !== State.tombstone && store.namespaceOf(handle) === namespace;
}

/** As much as one turn may take. Where it stopped; null at the end. */
function scanSlice(
  { store, scans }: Replica,
  ask: ListAsk,
  after: Numbered | null,
  found: Found,
): Numbered | null {
  const handles: number[] = [];
  const next = nextSlice(store, ask, after, handles);
  for (const handle of handles) {
    found.scanned++;
    if (!isListed(store, handle, ask)) continue;
    const record = store.read(handle);
    scans.count(record);
    if (matches(record, ask)) {
      found.records.push(record);
      found.bytes += recordBytes(record);
    }
    const full = found.records.length >= ask.limit || found.bytes >= frameBytesMax;
    if (full || scans.isFull) return { hi: record.hi, lo: record.lo };
  }
  return next;
}
