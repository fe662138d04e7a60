/**
 * Reading records, here and at the other members. One timer: ask all members that may hold it and take the newest
 * answer. Lists: every member gives its records in the one order all stores share; the pages are merged and of each
 * timer the newest copy is kept, so that a dead primary hides nothing. The part of one member is bounded in bytes,
 * and so is a page, which is made of several such rounds.
 */
import {
  type Clock,
  compareProgress,
  hex16,
  parseHex16,
  State,
  type TimerRecord,
} from '@carillon/core';
import { compareNumbers } from '../store/number-index.ts';
import type { Peers } from './peers.ts';
import type { Replica } from './replica.ts';
import { frameBytesMax, pageBytesMax, recordBytes, turnBytesMax } from './sizes.ts';
import { matches } from './list-filter.ts';
import type { ListAsk } from './wire/list.ts';
import type { Numbered } from './wire/parts.ts';

const answerMs = 1000;
/** A scan gives way to other work after this many records. */
const sliceLength = 2000;
/** One page stops after scanning this many records without filling up; its cursor goes on from there. */
const scanMax = 200_000;

export interface ReadParts {
  readonly self: string;
  readonly clock: Clock;
  readonly replica: Replica;
  readonly peers: Peers | null;
}

/** Calls `done` with the newest copy that any of `names` holds; at once where no other member has to be asked. */
export function readNewest(
  parts: ReadParts,
  number: Numbered,
  names: readonly string[],
  done: (newest: TimerRecord | null) => void,
): void {
  const { self, replica, peers } = parts;
  let newest = replica.get(number.hi, number.lo) ?? null;
  const others = peers === null ? [] : names.filter((name) => name !== self);
  if (peers === null || others.length === 0) return done(newest);
  const waiting = new Set(others);
  let isOver = false;
  const settle = (name: string): void => {
    waiting.delete(name);
    if (isOver || ![...waiting].every((left) => peers.silent(left))) return;
    isOver = true;
    done(newest);
  };
  for (const name of others) {
    peers.send(name, { type: 'read', hi: number.hi, lo: number.lo }, (answer) => {
      const record = answer?.type === 'record' ? answer.record : null;
      if (record !== null && (newest === null || compareProgress(record, newest) > 0))
        newest = record;
      settle(name);
    });
  }
}

export interface RecordPage {
  readonly records: readonly TimerRecord[];
  readonly cursor: string | null;
  readonly missing: readonly string[];
}

/** One page over the whole cluster: with fewer records than asked for, and a cursor, where more would be too many bytes. */
export async function listEverywhere(
  parts: ReadParts,
  ask: ListAsk,
  names: readonly string[],
): Promise<RecordPage> {
  const untilMs = parts.clock.now() + answerMs;
  const records: TimerRecord[] = [];
  let bytes = 0;
  let { cursor } = ask;
  for (;;) {
    const left = { ...ask, cursor, limit: ask.limit - records.length };
    const round = await listRound(parts, left, { names, bytesMax: pageBytesMax - bytes });
    for (const record of round.records) {
      records.push(record);
      bytes += recordBytes(record);
    }
    const full = records.length >= ask.limit || bytes >= pageBytesMax;
    const over = full || round.missing.length > 0 || parts.clock.now() > untilMs;
    if (over || round.cursor === null) return { ...round, records };
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
  const pages = await Promise.all(
    names.map(async (name) => ({ name, page: await listAt(parts, name, ask) })),
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
  const { clock } = parts;
  const found: Found = { records: [], bytes: 0, scanned: 0 };
  const untilMs = clock.now() + answerMs / 2;
  let after: Numbered | null = parseHex16(ask.cursor);
  for (;;) {
    const { records } = found;
    after = scanSlice(parts.replica, ask, after, found);
    if (after === null) return { records, stopped: null };
    const full = records.length >= ask.limit || found.bytes >= frameBytesMax;
    if (full || found.scanned >= scanMax || clock.now() > untilMs)
      return { records, stopped: hex16(after.hi, after.lo) };
    await parts.replica.scans.next();
  }
}

interface Found {
  readonly records: TimerRecord[];
  /** Of the records found. */
  bytes: number;
  scanned: number;
}

/** Shows every record of the namespace in slices, between which others have their turns. Records of a list of dead letters alone. */
export async function eachSlice(
  { replica: { store, scans } }: ReadParts,
  ask: ListAsk,
  visit: (record: TimerRecord) => void,
): Promise<void> {
  let after: Numbered | null = null;
  do {
    after = visitSlice(store, ask, after, visit);
    await scans.next();
  } while (after !== null);
}

/** As much as one turn may take. Where it stopped; null at the end. */
function visitSlice(
  store: Replica['store'],
  ask: ListAsk,
  after: Numbered | null,
  visit: (record: TimerRecord) => void,
): Numbered | null {
  const handles: number[] = [];
  const next = nextSlice(store, ask, after, handles);
  let readBytes = 0;
  for (const handle of handles) {
    if (!isListed(store, handle, ask)) continue;
    const record = store.read(handle);
    visit(record);
    readBytes += recordBytes(record);
    if (readBytes >= turnBytesMax) return { hi: record.hi, lo: record.lo };
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
  { store }: Replica,
  ask: ListAsk,
  after: Numbered | null,
  found: Found,
): Numbered | null {
  const handles: number[] = [];
  const next = nextSlice(store, ask, after, handles);
  let readBytes = 0;
  for (const handle of handles) {
    found.scanned++;
    if (!isListed(store, handle, ask)) continue;
    const record = store.read(handle);
    readBytes += recordBytes(record);
    if (matches(record, ask)) {
      found.records.push(record);
      found.bytes += recordBytes(record);
    }
    const full = found.records.length >= ask.limit || found.bytes >= frameBytesMax;
    if (full || readBytes >= turnBytesMax) return { hi: record.hi, lo: record.lo };
  }
  return next;
}
