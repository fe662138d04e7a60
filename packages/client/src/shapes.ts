/**
 * Answers of the cluster, in the client's own names. Lenient: a field that an older or newer member leaves out is empty
 * here. Each answer has one field that every member gives; without it the answer is none of a member's.
 */
import { StrangeAnswer } from './errors.ts';

export interface Copies {
  readonly have: number;
  readonly wanted: number;
}

/** The result of a set, replace or cancel. */
export interface Confirmed {
  /** The timer's handle; newer than the one passed in, which stays valid too. */
  readonly id: string;
  /** How many members confirmed, of how many wanted; null: the answer did not say. */
  readonly copies: Copies | null;
}

export type TimerState = 'pending' | 'retrying' | 'ended' | 'dead';

export interface Timer {
  readonly id: string;
  readonly state: TimerState;
  readonly uri: string;
  readonly opaque: string;
  readonly tags: readonly string[];
  readonly factor: number;
  /** As in the HTTP API: seconds. */
  readonly timing: Readonly<Record<string, unknown>>;
  readonly setAt: Date | null;
  readonly nextDue: Date | null;
  readonly nextAttempt: Date | null;
  /** Pops so far. */
  readonly sequence: number;
  /** Failed attempts of the present pop. */
  readonly attempt: number;
  /** An HTTP status, a word (refused, timeout …), or null before the first attempt. */
  readonly lastOutcome: number | string | null;
  /** Class of the failure of the newest attempt (5xx, refused …); null: it was a success, or there was none. */
  readonly lastFailure: string | null;
  /** First bytes of the failing receiver's answer, or why there was none; null where no member remembers it. */
  readonly lastDetail: string | null;
  /** The dead letter of its newest pop, where that was given up; only where the timer was read by itself. */
  readonly deadLetter: string | null;
  /** Url that is told of pops that were given up; null: none is. */
  readonly onFailure: string | null;
  /** Kind of the event that the timer tells of; null: a client set it. */
  readonly event: string | null;
  readonly version: string;
  /** Members that hold it, primary first. */
  readonly replicas: readonly string[];
}

export interface DeadLetter {
  readonly id: string;
  /** The timer whose pop this was. */
  readonly timer: string;
  readonly uri: string;
  readonly opaque: string;
  readonly tags: readonly string[];
  readonly sequence: number;
  readonly due: Date | null;
  readonly missed: number;
  readonly attempts: number;
  readonly reason: string;
  readonly gaveUp: Date | null;
  /** As in `Timer`. */
  readonly lastOutcome: number | string | null;
  readonly lastFailure: string | null;
}

export interface DeadLetterSummary {
  readonly total: number;
  /** Most letters first. */
  readonly groups: readonly DeadLetterGroup[];
  /** Members that did not answer; letters of theirs may not be counted. */
  readonly missing: readonly string[];
}

export interface DeadLetterGroup {
  /** The origin of the callbacks; empty for further ones, where there are very many. */
  readonly receiver: string;
  readonly failure: string;
  readonly count: number;
  /** When the first and the last of them were given up. */
  readonly oldest: Date | null;
  readonly newest: Date | null;
}

export interface ClusterMember {
  readonly name: string;
  readonly address: string;
  readonly phase: string;
  readonly weight: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether this is the member that answered. */
  readonly self: boolean;
  readonly reachable: boolean;
  readonly clockOffsetMs: number | null;
  readonly timers: number | null;
  readonly primaries: number | null;
  /** Whether damage was found on its disk since it started: whole, mending, mended or lost; null: not heard. */
  readonly disk: string | null;
}

/** Damage found on the disk of the member that answered, since it started. */
export interface DiskDamage {
  /**
   * mending, mended (every record that others had is there again) or lost (timers are gone, or there was no member to
   * ask).
   */
  readonly state: string;
  readonly foundAt: Date | null;
  /** Damaged stretches and missing files. */
  readonly stretches: number;
  /** Each is one change of one timer. */
  readonly entriesLost: number;
  /** There may be more that cannot be counted. */
  readonly moreLost: boolean;
  /** Timers that are gone because no other member had a copy, at most; null: that cannot be told. */
  readonly timersLost: number | null;
  readonly recordsFetched: number;
}

export interface Cluster {
  readonly viewId: string;
  readonly revision: number;
  /** alone, static or etcd. */
  readonly source: string;
  /** The rule that places timers on the members; empty from a member of an earlier release. */
  readonly placementId: string;
  /** Replicas of a timer whose client names no factor; null from a member of an earlier release. */
  readonly defaultFactor: number | null;
  /** A sentence for each member that holds more than its weight asks for, because copies are in distinct domains. */
  readonly hot: readonly string[];
  readonly members: readonly ClusterMember[];
  readonly resync: { running: boolean; checked: number; total: number; moved: number };
  readonly repair: { unconfirmedRecords: number; underReplicated: number };
  /** null: none was found. */
  readonly damage: DiskDamage | null;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly cursor: string | null;
  /** Members that did not answer; their timers may be missing. */
  readonly missing: readonly string[];
}

/** When a timer would pop if it were set now. */
export interface Preview {
  /** IANA name of the zone of the local times. */
  readonly timezone: string;
  /** The next pops, at most five. */
  readonly pops: readonly PreviewedPop[];
  /** Whether more pops follow. */
  readonly more: boolean;
}

export interface PreviewedPop {
  readonly due: Date | null;
  /** The same instant by the clocks of the zone, with its offset: `2026-03-29T09:00:00.000+02:00`. */
  readonly local: string;
}

/** One try to deliver a pop, as the member that made it remembers it. */
export interface Attempt {
  /** Sequence number of the pop. */
  readonly pop: number;
  /** Which try of this pop, from 1. */
  readonly attempt: number;
  /** When the callback began. */
  readonly at: Date | null;
  /** From the due time of the pop until then. */
  readonly latenessMs: number;
  /** Until the answer, or until it was given up. */
  readonly tookMs: number;
  /** An HTTP status, or why there was none: refused, timeout and so on. */
  readonly status: number | string;
  /** Class of its failure; null: a success. */
  readonly failure: string | null;
  /** Of a failure: the first words of the answer, or why there was none. */
  readonly detail: string;
  readonly member: string;
}

export interface Attempts {
  /** Oldest first. */
  readonly attempts: readonly Attempt[];
  /** Members that did not answer; attempts of theirs may be missing. */
  readonly missing: readonly string[];
}

/** One JSON object, read member by member; a member of another type counts as missing. */
export class Fields {
  private readonly source: Readonly<Record<string, unknown>>;

  constructor(json: unknown) {
    this.source =
      typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
  }

  /** Throws StrangeAnswer unless there is such a member. */
  having(name: string, kind: 'string' | 'number' | 'boolean' | 'list'): this {
    const value = this.source[name];
    if ((Array.isArray(value) ? 'list' : typeof value) === kind) return this;
    throw new StrangeAnswer(`no JSON with "${name}"`);
  }

  text(name: string): string {
    const value = this.source[name];
    return typeof value === 'string' ? value : '';
  }

  number(name: string): number {
    return this.numberOrNull(name) ?? 0;
  }

  numberOrNull(name: string): number | null {
    const value = this.source[name];
    return typeof value === 'number' ? value : null;
  }

  flag(name: string): boolean {
    return this.source[name] === true;
  }

  date(name: string): Date | null {
    const date = new Date(this.text(name));
    return Number.isNaN(date.getTime()) ? null : date;
  }

  list(name: string): readonly unknown[] {
    const value = this.source[name];
    return Array.isArray(value) ? value : [];
  }

  texts(name: string): readonly string[] {
    return this.list(name).filter((item) => typeof item === 'string');
  }

  inner(name: string): Fields {
    return new Fields(this.source[name]);
  }

  all(): Readonly<Record<string, unknown>> {
    return this.source;
  }

  raw(name: string): unknown {
    return this.source[name];
  }
}

export function readTimer(json: unknown): Timer {
  const from = new Fields(json).having('id', 'string');
  const http = from.inner('callback').inner('http');
  return {
    id: from.text('id'),
    state: from.text('state') as TimerState,
    uri: http.text('uri'),
    opaque: http.text('opaque'),
    tags: from.texts('tags'),
    factor: from.inner('reliability').number('replication-factor'),
    timing: from.inner('timing').all(),
    setAt: from.date('set'),
    nextDue: from.date('next-due'),
    nextAttempt: from.date('next-attempt'),
    sequence: from.number('sequence'),
    attempt: from.number('attempt'),
    ...readLast(from),
    lastDetail: from.text('last-detail') || null,
    deadLetter: from.text('dead-letter') || null,
    onFailure: from.inner('callback').inner('on-failure').text('uri') || null,
    event: from.text('event') || null,
    version: from.text('version'),
    replicas: from.texts('replicas'),
  };
}

export function readDeadLetter(json: unknown): DeadLetter {
  const from = new Fields(json).having('id', 'string');
  const http = from.inner('callback').inner('http');
  return {
    id: from.text('id'),
    timer: from.text('timer'),
    uri: http.text('uri'),
    opaque: http.text('opaque'),
    tags: from.texts('tags'),
    sequence: from.number('sequence'),
    due: from.date('due'),
    missed: from.number('missed'),
    attempts: from.number('attempts'),
    reason: from.text('reason'),
    gaveUp: from.date('gave-up'),
    ...readLast(from),
  };
}

export function readDeadLetterSummary(json: unknown): DeadLetterSummary {
  const from = new Fields(json).having('total', 'number');
  return {
    total: from.number('total'),
    groups: from.list('groups').map(readGroup),
    missing: from.texts('missing'),
  };
}

function readGroup(json: unknown): DeadLetterGroup {
  const from = new Fields(json);
  return {
    receiver: from.text('receiver'),
    failure: from.text('failure'),
    count: from.number('count'),
    oldest: from.date('oldest'),
    newest: from.date('newest'),
  };
}

/** How the newest attempt went. */
function readLast(from: Fields): Pick<Timer, 'lastOutcome' | 'lastFailure'> {
  const outcome = from.raw('last-outcome');
  return {
    lastOutcome: typeof outcome === 'number' || typeof outcome === 'string' ? outcome : null,
    lastFailure: from.text('last-failure') || null,
  };
}

export function readPreview(json: unknown): Preview {
  const from = new Fields(json).having('pops', 'list');
  const pops = from.list('pops').map((pop) => {
    const fields = new Fields(pop);
    return { due: fields.date('due'), local: fields.text('local') };
  });
  return { timezone: from.text('timezone'), pops, more: from.flag('more') };
}

export function readAttempts(json: unknown): Attempts {
  const from = new Fields(json).having('attempts', 'list');
  return { attempts: from.list('attempts').map(readAttempt), missing: from.texts('missing') };
}

export function readAttempt(json: unknown): Attempt {
  const from = new Fields(json);
  return {
    pop: from.number('pop'),
    attempt: from.number('attempt'),
    at: from.date('at'),
    latenessMs: from.number('lateness-ms'),
    tookMs: from.number('took-ms'),
    status: from.numberOrNull('status') ?? from.text('status'),
    failure: from.text('failure') || null,
    detail: from.text('detail'),
    member: from.text('member'),
  };
}

export function readPage<T>(json: unknown, name: string, read: (item: unknown) => T): Page<T> {
  const from = new Fields(json).having(name, 'list');
  const cursor = from.text('cursor');
  return {
    items: from.list(name).map(read),
    cursor: cursor === '' ? null : cursor,
    missing: from.texts('missing'),
  };
}

/** Of a page that was asked for its total. */
export function readTotal(json: unknown): { count: number; exact: boolean } {
  const total = new Fields(json).inner('total').having('count', 'number');
  return { count: total.number('count'), exact: total.flag('exact') };
}

export function readCluster(json: unknown): Cluster {
  const from = new Fields(json).having('members', 'list');
  const resync = from.inner('resync');
  const repair = from.inner('repair');
  return {
    viewId: from.text('view-id'),
    revision: from.number('revision'),
    source: from.text('source'),
    placementId: from.text('placement-id'),
    defaultFactor: from.numberOrNull('default-factor'),
    hot: from.texts('hot'),
    members: from.list('members').map(readMember),
    resync: {
      running: resync.flag('running'),
      checked: resync.number('checked'),
      total: resync.number('total'),
      moved: resync.number('moved'),
    },
    repair: {
      unconfirmedRecords: repair.number('unconfirmed-records'),
      underReplicated: repair.number('under-replicated'),
    },
    damage: (from.raw('damage') ?? null) === null ? null : readDamage(from.inner('damage')),
  };
}

function readDamage(from: Fields): DiskDamage {
  return {
    state: from.text('state'),
    foundAt: from.date('found-at'),
    stretches: from.number('stretches'),
    entriesLost: from.number('entries-lost'),
    moreLost: from.flag('more-lost'),
    timersLost: from.numberOrNull('timers-lost'),
    recordsFetched: from.number('records-fetched'),
  };
}

function readMember(json: unknown): ClusterMember {
  const from = new Fields(json);
  return {
    name: from.text('name'),
    address: from.text('address'),
    phase: from.text('phase'),
    weight: from.number('weight'),
    labels: from.inner('labels').all() as Readonly<Record<string, string>>,
    self: from.flag('self'),
    reachable: from.flag('reachable'),
    clockOffsetMs: from.numberOrNull('clock-offset-ms'),
    timers: from.numberOrNull('timers'),
    primaries: from.numberOrNull('primaries'),
    disk: from.text('disk') || null,
  };
}

/** `2/2`, as in the header `Carillon-Copies`. */
export function readCopies(text: string | null): Copies | null {
  const match = /^(\d{1,3})\/(\d{1,3})$/.exec(text ?? '');
  return match === null ? null : { have: Number(match[1]), wanted: Number(match[2]) };
}
