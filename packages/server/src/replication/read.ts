/**
 * Reading records, here and at the other members. One timer: ask everyone who may hold it and take the newest
 * answer. Lists: every member gives its records in the one order all stores share; the pages are merged and
 * of each timer the newest copy is kept, so that a dead primary hides nothing.
 */
import {
  type Clock,
  compareProgress,
  decodeDefinition,
  hex16,
  parseHex16,
  State,
  type TimerRecord,
} from '@carillon/core';
import type { TimerState } from '../api/service.ts';
import { compareNumbers } from '../store/number-index.ts';
import type { Peers } from './peers.ts';
import type { Replica } from './replica.ts';
import { timerState } from './timer-view.ts';
import type { ListAsk, Numbered } from './wire.ts';

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

/** The newest copy that any of `names` holds. */
export function readNewest(
  parts: ReadParts,
  number: Numbered,
  names: readonly string[],
): Promise<TimerRecord | null> {
  const { self, replica, peers } = parts;
  let newest = replica.get(number.hi, number.lo) ?? null;
  const others = peers === null ? [] : names.filter((name) => name !== self);
  if (peers === null || others.length === 0) return Promise.resolve(newest);
  return new Promise((resolve) => {
    const waiting = new Set(others);
    const settle = (name: string): void => {
      waiting.delete(name);
      if ([...waiting].every((left) => peers.silent(left))) resolve(newest);
    };
    for (const name of others) {
      peers.send(name, { type: 'read', hi: number.hi, lo: number.lo }, (answer) => {
        const record = answer?.type === 'record' ? answer.record : null;
        if (record !== null && (newest === null || compareProgress(record, newest) > 0))
          newest = record;
        settle(name);
      });
    }
  });
}

export interface RecordPage {
  readonly records: readonly TimerRecord[];
  readonly cursor: string | null;
  readonly missing: readonly string[];
}

/** One page over the whole cluster. */
export async function listEverywhere(
  parts: ReadParts,
  ask: ListAsk,
  names: readonly string[],
): Promise<RecordPage> {
  const pages = await Promise.all(
    names.map(async (name) => ({ name, page: await listAt(parts, name, ask) })),
  );
  const missing = pages.filter(({ page }) => page === null).map(({ name }) => name);
  const answers = pages.flatMap(({ page }) => (page === null ? [] : [page]));
  return { ...mergePages(answers, ask), missing };
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
  const records = sorted.slice(0, ask.limit);
  const last = records.at(-1);
  if (sorted.length > ask.limit && last !== undefined) {
    return { records: matching(records, ask), cursor: hex16(last.hi, last.lo) };
  }
  return {
    records: matching(records, ask),
    cursor: edge === null ? null : hex16(edge.hi, edge.lo),
  };
}

/** The newest copy may no longer be what an older one seemed to be. */
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

/** This member's part of a page: everything it holds of the asked kind after the cursor. */
export async function listHere(parts: ReadParts, ask: ListAsk): Promise<OnePage> {
  const { replica, clock } = parts;
  const { store } = replica;
  const records: TimerRecord[] = [];
  const untilMs = clock.now() + answerMs / 2;
  let after: Numbered | null = parseHex16(ask.cursor);
  let scanned = 0;
  for (;;) {
    const handles: number[] = [];
    const next: Numbered | null = store.next(after, sliceLength, handles);
    for (const handle of handles) {
      const here = { hi: store.hiOf(handle), lo: store.loOf(handle) };
      if (store.stateOf(handle) === State.tombstone) continue;
      if (store.namespaceOf(handle) !== ask.namespace) continue;
      const record = store.read(handle);
      if (!matches(record, ask)) continue;
      records.push(record);
      if (records.length >= ask.limit) return { records, stopped: hex16(here.hi, here.lo) };
    }
    scanned += handles.length;
    if (next === null) return { records, stopped: null };
    after = next;
    if (scanned >= scanMax || clock.now() > untilMs)
      return { records, stopped: hex16(after.hi, after.lo) };
    await new Promise<void>((resolve) => clock.soon(resolve));
  }
}

function matches(record: TimerRecord, ask: ListAsk): boolean {
  if (!heldAs(record, ask)) return false;
  const state: TimerState = timerState(record);
  if (ask.state === '' ? state === 'ended' || state === 'dead' : state !== ask.state) return false;
  if (ask.tag === null) return true;
  const { tags, tagInfo } = decodeDefinition(record.body);
  return tags.includes(ask.tag) || tagInfo.some(({ type }) => type === ask.tag);
}

function heldAs({ replicas }: TimerRecord, { holder, role }: ListAsk): boolean {
  if (holder === '') return true;
  const position = replicas.indexOf(holder);
  if (role === '') return position !== -1;
  return role === 'primary' ? position === 0 : position > 0;
}
