/** Requests of clients and the answers they got: the outside view that checkers judge by. */
import type { WallTiming } from './wall-timing.ts';
import { compareVersions, formatVersion, type Version } from '@carillon/core';
import { numbering } from './world/numbering.ts';

export interface TimerWish {
  readonly intervalMs: number;
  /** How many pops. */
  readonly count: number;
  readonly factor: number;
  readonly receiver: string;
  /** Padding that makes the opaque longer than its name needs. */
  readonly paddingBytes?: number;
  /** By the wall clock instead of an interval; WallTiming says how `intervalMs` and `count` are meant then. */
  readonly wall?: WallTiming;
  /** Never ends by itself; `count` is infinite then. */
  readonly forever?: boolean;
  /** `callback.retry`, as clients write it. */
  readonly retry?: { readonly 'max-attempts': number; readonly base: number };
  /** Callbacks of this timer may come with others in one request. */
  readonly batch?: boolean;
}

/** One request on its way to one member and back. */
export interface Attempt {
  readonly member: string;
  readonly sentMs: number;
  /** When it reached the member; null: it did not, or not yet. */
  arrivedMs: number | null;
  /** When the member had answered, had died, or the request was known to be lost; null: it may still act. */
  settledMs: number | null;
  /** The status that the client got; null: none (yet). */
  status: number | null;
  /** Given by the member, whether or not the client heard of it. */
  version?: Version | null;
}

/** The highest version that one client has seen, sent with every change it asks for. */
export class SeenVersion {
  private highest: Version | null = null;

  /** null: none yet. */
  get version(): Version | null {
    return this.highest;
  }

  get headers(): Record<string, string> {
    return this.highest === null ? {} : { 'carillon-seen': formatVersion(this.highest) };
  }

  add(version: Version): void {
    if (this.highest === null || compareVersions(version, this.highest) > 0) this.highest = version;
  }
}

/** One change that a client wanted, with all attempts at it. */
export interface Operation {
  readonly timer: TimerHistory;
  /** 1, 2, … within the timer; in the opaque of every callback. */
  readonly index: number;
  readonly kind: 'set' | 'cancel';
  readonly wish: TimerWish | null;
  readonly keyed: boolean;
  readonly attempts: Attempt[];
  /** When the client heard a 2xx. */
  ackMs: number | null;
  /** `Carillon-Copies` of that answer. */
  have: number;
  wanted: number;
  /** The highest version its client had seen when it asked. */
  readonly seen: Version | null;
  /** `Carillon-Version` of that answer. */
  version: Version | null;
}

/** A dead letter, as members show it. */
export interface Letter {
  readonly id: string;
  readonly namespace: string;
  readonly opaque: string;
  readonly sequence: number;
  readonly missed: number;
}

/** A request about a dead letter, with all attempts at it. */
export interface LetterOperation {
  readonly letter: Letter;
  readonly does: 'redeliver' | 'discard';
  readonly attempts: Attempt[];
  /** When a 2xx was heard. */
  ackMs: number | null;
}

interface PopOf {
  /** The opaque. */
  readonly body: string;
  readonly sequence: number;
}

/** Namespace and tag that a timer is set with. */
export interface Belonging {
  readonly namespace: string;
  /** null: none. */
  readonly tag: string | null;
}

export interface TimerHistory extends Belonging {
  readonly index: number;
  /** The id as the newest answer gave it; null before the first. */
  id: string | null;
  /** By the client that sets and changes the timer at present. */
  seen: SeenVersion;
  readonly operations: Operation[];
}

export function opaqueOf({ timer, index }: Operation): string {
  return `timer ${timer.index} operation ${index}`;
}

/** The whole opaque that an operation set; `opaqueOf` is its beginning, and names the operation. */
export function bodyOf(operation: Operation): string {
  const { paddingBytes = 0 } = operation.wish ?? {};
  const name = opaqueOf(operation);
  return paddingBytes === 0 ? name : `${name} ${'x'.repeat(paddingBytes)}`;
}

/** The timer and operation a callback's body stands for; null for any other body. */
function parseOpaque(body: string): { timer: number; operation: number } | null {
  const match = /^timer (\d+) operation (\d+)(?: x+)?$/.exec(body);
  return match === null ? null : { timer: Number(match[1]), operation: Number(match[2]) };
}

/** The 16 hex digits at the beginning of an id, which identify the timer. */
export function numberOf({ id }: TimerHistory): string {
  return (id ?? '').slice(0, 16);
}

/** Under which the members keep a timer. */
export function keptUnder(timer: TimerHistory): { hi: number; lo: number } {
  const number = numberOf(timer);
  const hi = Number.parseInt(number.slice(0, 8), 16);
  return numbering.inside(timer.namespace, { hi, lo: Number.parseInt(number.slice(8), 16) });
}

/** The first moment at which the operation can have begun to act; Infinity when nothing arrived. */
export function earliestMs({ attempts }: Pick<Operation, 'attempts'>): number {
  return Math.min(...attempts.map(({ arrivedMs }) => arrivedMs ?? Number.POSITIVE_INFINITY));
}

/** The first moment from which the operation can no longer act anew. */
export function settledMs({ attempts }: Operation): number {
  return Math.max(0, ...attempts.map((attempt) => attempt.settledMs ?? Number.POSITIVE_INFINITY));
}

/**
 * Whether everything that was asked for before this, and every attempt at it, had acted for the last time when it was
 * acknowledged.
 */
export function isSettled(operation: Operation): boolean {
  const { timer, index, ackMs } = operation;
  if (ackMs === null || settledMs(operation) > ackMs) return false;
  const sentMs = firstSentMs(operation);
  return timer.operations.slice(0, index - 1).every((earlier) => settledMs(earlier) <= sentMs);
}

export function firstSentMs({ attempts }: Pick<Operation, 'attempts'>): number {
  return attempts[0]?.sentMs ?? Number.POSITIVE_INFINITY;
}

/** Whether the letter stands for this pop of the operation, alone or together with pops that were skipped. */
export function covers(letter: Letter, opaque: string, sequence: number): boolean {
  if (letter.opaque !== opaque) return false;
  return sequence <= letter.sequence && sequence >= letter.sequence - letter.missed;
}

export class History {
  readonly timers: TimerHistory[] = [];
  readonly letters: LetterOperation[] = [];

  timer({ namespace, tag }: Belonging = { namespace: 'default', tag: null }): TimerHistory {
    const seen = new SeenVersion();
    const { length: index } = this.timers;
    const timer: TimerHistory = { index, namespace, tag, id: null, seen, operations: [] };
    this.timers.push(timer);
    return timer;
  }

  operation(
    timer: TimerHistory,
    kind: 'set' | 'cancel',
    wish: TimerWish | null,
    keyed: boolean,
  ): Operation {
    const operation: Operation = {
      timer,
      index: timer.operations.length + 1,
      kind,
      wish,
      keyed,
      attempts: [],
      ackMs: null,
      have: 0,
      wanted: 0,
      seen: timer.seen.version,
      version: null,
    };
    timer.operations.push(operation);
    return operation;
  }

  /** All that timers were set in. */
  get namespaces(): ReadonlySet<string> {
    return new Set(this.timers.map(({ namespace }) => namespace));
  }

  letterOperation(letter: Letter, does: LetterOperation['does']): LetterOperation {
    const operation: LetterOperation = { letter, does, attempts: [], ackMs: null };
    this.letters.push(operation);
    return operation;
  }

  /** Whether a client asked before `untilMs` for a letter of this pop to be sent again, or discarded. */
  asked(does: LetterOperation['does'], pop: PopOf, untilMs: number): boolean {
    return this.letters.some(
      (operation) =>
        operation.does === does &&
        covers(operation.letter, pop.body, pop.sequence) &&
        earliestMs(operation) <= untilMs,
    );
  }

  /** The operation behind a callback's body. */
  find(body: string): Operation | null {
    const parsed = parseOpaque(body);
    if (parsed === null) return null;
    return this.timers[parsed.timer]?.operations[parsed.operation - 1] ?? null;
  }
}
