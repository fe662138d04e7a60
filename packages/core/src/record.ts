/**
 * A record: one timer as a member holds it. The unit of storing, journaling, replicating and merging.
 *
 * Times are milliseconds on the holder's own monotonic clock. In bytes they are relative to a base that the writer
 * and the reader each choose: on the wire both use their `now`, so an age travels and a hop can only make a timer
 * later by its latency, never earlier; on disk both use `now − wall`, so the disk keeps wall time.
 */
import type { ByteReader, ByteWriter } from './bytes.ts';
import { MalformedError } from './bytes.ts';
import { factorMax } from './ids.ts';
import { compareVersions, type Version } from './version.ts';

/** The year 10889: no clock that is merely wrong says more. */
export const versionMsMax = 2 ** 48;

/** Order matters: at equal version the higher state wins a merge. */
export const State = { live: 0, dead: 1, tombstone: 2 } as const;
/** live: will pop. dead: a dead letter, waits to be read and re-sent. tombstone: ended, remembered for a while. */
export type State = (typeof State)[keyof typeof State];

export interface TimerRecord extends Version {
  readonly hi: number;
  readonly lo: number;
  readonly namespace: string;
  /** How many replicas the client asked for. */
  readonly factor: number;
  readonly state: State;
  /** Pops so far (missed ones included). */
  readonly sequence: number;
  /** Failed attempts of the present pop. */
  readonly attempt: number;
  /** When the timer was set or last replaced. */
  readonly startMs: number;
  /** When the next pop is due; of a tombstone or dead letter: when it became one. */
  readonly dueMs: number;
  /** The time between the previous pop (or the start) and this one; skew is derived from it. */
  readonly gapMs: number;
  /** When the next attempt is due; equals `dueMs` while `attempt` is 0. */
  readonly retryMs: number;
  /** From when the time limit of attempts counts: the first attempt where that came late, else `dueMs`. */
  readonly triedMs: number;
  /** The result of the newest attempt: 0 none yet, an HTTP status, or one of `Outcome`. */
  readonly outcome: number;
  /** Names of the members that hold this record, primary first. */
  readonly replicas: readonly string[];
  /** `encodeDefinition`; empty on a tombstone, except under an idempotency key. */
  readonly body: Uint8Array;
}

/**
 * Beside the state: the first attempt of the pop came late, and its time follows. Older releases cannot read such a
 * record.
 */
const lateBit = 4;

/** Outcomes of an attempt that brought no HTTP status. */
export const Outcome = {
  none: 0,
  refused: 1,
  timeout: 2,
  unresolvable: 3,
  forbidden: 4,
  cut: 5,
  merged: 6,
  tls: 7,
} as const;

/** The fields that order two states of one timer. */
export type Progress = Pick<
  TimerRecord,
  'versionMs' | 'versionTie' | 'state' | 'sequence' | 'attempt'
>;

/** Positive when `a` is the newer of two states of one timer; the order of the rules is the rule. */
export function compareProgress(a: Progress, b: Progress): number {
  return (
    compareVersions(a, b) || a.state - b.state || a.sequence - b.sequence || a.attempt - b.attempt
  );
}

export function encodeRecord(out: ByteWriter, record: TimerRecord, baseMs: number): void {
  out.u32(record.hi);
  out.u32(record.lo);
  out.f64(record.versionMs);
  out.u32(record.versionTie);
  const late = record.attempt > 0 && record.triedMs !== record.dueMs;
  out.u8(late ? record.state | lateBit : record.state);
  out.u8(record.factor);
  out.varint(record.sequence);
  out.varint(record.attempt);
  out.u16(record.outcome);
  out.f64(record.startMs - baseMs);
  out.f64(record.dueMs - baseMs);
  out.f64(record.gapMs);
  if (record.attempt > 0) out.f64(record.retryMs - baseMs);
  if (late) out.f64(record.triedMs - baseMs);
  out.text(record.namespace);
  out.u8(record.replicas.length);
  for (const name of record.replicas) out.text(name);
  out.blob(record.body);
}

/** The fields of a record without its body. Filled again and again: reading a million records leaves no garbage. */
export class RecordFields implements Omit<TimerRecord, 'body'> {
  hi = 0;
  lo = 0;
  namespace = '';
  factor = 1;
  versionMs = 0.5;
  versionTie = 0;
  state: State = State.live;
  sequence = 0;
  attempt = 0;
  startMs = 0.5;
  dueMs = 0.5;
  gapMs = 0.5;
  retryMs = 0.5;
  triedMs = 0.5;
  outcome = 0;
  replicas: readonly string[] = [];
}

/** A whole record to fill again and again. */
export class RecordBuffer extends RecordFields implements TimerRecord {
  body: Uint8Array = new Uint8Array(0);
}

const decoded = new RecordBuffer();

/** Throws MalformedError for bytes that are not a record. The body is a view on the source bytes. */
export function decodeRecord(from: ByteReader, baseMs: number): TimerRecord {
  decodeFields(decoded, from, baseMs);
  decoded.body = from.blob();
  checkFields(decoded);
  // Field by field: of an object of a class, a spread costs ten times as much.
  return {
    hi: decoded.hi,
    lo: decoded.lo,
    namespace: decoded.namespace,
    factor: decoded.factor,
    versionMs: decoded.versionMs,
    versionTie: decoded.versionTie,
    state: decoded.state,
    sequence: decoded.sequence,
    attempt: decoded.attempt,
    startMs: decoded.startMs,
    dueMs: decoded.dueMs,
    gapMs: decoded.gapMs,
    retryMs: decoded.retryMs,
    triedMs: decoded.triedMs,
    outcome: decoded.outcome,
    replicas: decoded.replicas,
    body: decoded.body,
  };
}

/**
 * Overwrites a record with one from bytes. Its body is lent: the next record that is read this way overwrites it. After
 * an error the record is a mixture of old and new fields, and of no use.
 */
export function decodeRecordInto(record: RecordBuffer, from: ByteReader, baseMs: number): void {
  decodeFields(record, from, baseMs);
  record.body = from.lentBlob();
  checkFields(record);
}

/** All fields but the body, which comes behind them. */
function decodeFields(record: RecordBuffer, from: ByteReader, baseMs: number): void {
  record.hi = from.u32();
  record.lo = from.u32();
  record.versionMs = from.f64();
  record.versionTie = from.u32();
  const stateAndLate = from.u8();
  const state = stateAndLate & ~lateBit;
  record.state = state as State;
  record.factor = from.u8();
  record.sequence = from.varint();
  record.attempt = from.varint();
  record.outcome = from.u16();
  record.startMs = finite(from.f64()) + baseMs;
  const dueMs = finite(from.f64()) + baseMs;
  record.dueMs = dueMs;
  record.gapMs = finite(from.f64());
  record.retryMs = record.attempt > 0 ? finite(from.f64()) + baseMs : dueMs;
  record.triedMs = state === stateAndLate ? dueMs : finite(from.f64()) + baseMs;
  record.namespace = from.text();
  record.replicas = decodeNames(from, record.replicas);
}

function checkFields(record: RecordBuffer): void {
  const { state, factor } = record;
  if (state > State.tombstone || factor < 1 || factor > factorMax) {
    throw new MalformedError(`A record has state ${state} and factor ${factor}.`);
  }
  // A version far in the future would win over every client's request for as long.
  if (!(record.versionMs >= 0 && record.versionMs < versionMsMax)) {
    throw new MalformedError(`A record has version ${record.versionMs}.`);
  }
}

/** The names that come next; the very list `before` where it has the same names, as neighbours often do. */
function decodeNames(from: ByteReader, before: readonly string[]): readonly string[] {
  const count = from.u8();
  for (let i = 0; i < count; i++) {
    const name = from.text();
    if (count === before.length && name === before[i]) continue;
    const names = [...before.slice(0, i), name];
    while (names.length < count) names.push(from.text());
    return names;
  }
  return count === 0 ? [] : before;
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new MalformedError('A time is not a finite number.');
  return value;
}
