/** A set, replace or cancel on its way: the request, in the forms in which it can be sent, and its one outcome. */
import { parseLooseTimerId, shortKey } from '@carillon/core';
import { ApiError, type Problem, StrangeAnswer } from '../errors.ts';
import { type Confirmed, Fields, readCopies } from '../shapes.ts';
import type { Answer, Prepared } from '../transport.ts';

export interface Asked {
  readonly kind: 'set' | 'replace' | 'cancel';
  /** Of the timer; of a set, which has none yet, its idempotency key. */
  readonly name: string;
  /** The timer as JSON; null: a cancel. */
  readonly text: string | null;
  readonly signal: AbortSignal | undefined;
  /** The trace that it belongs to: changes of several traces may go in one request. */
  readonly trace: string | undefined;
}

export class Change {
  readonly asked: Asked;
  /** The same for all changes of a timer, and rarely for two timers; null: a new timer. */
  readonly timer: string | number | null;
  /** Called when the caller does not wait any longer. */
  onLeft: ((reason: unknown) => void) | null = null;
  private readonly resolve: (confirmed: Confirmed) => void;
  private readonly reject: (error: unknown) => void;
  private readonly onAbort: (() => void) | null = null;
  private hasOutcome = false;

  constructor(
    asked: Asked,
    resolve: (confirmed: Confirmed) => void,
    reject: (error: unknown) => void,
  ) {
    const { signal } = asked;
    this.asked = asked;
    this.timer = timerOf(asked);
    this.resolve = resolve;
    this.reject = reject;
    if (signal === undefined) return;
    this.onAbort = () => {
      this.failed(signal.reason);
      this.onLeft?.(signal.reason);
    };
    signal.addEventListener('abort', this.onAbort, { once: true });
  }

  /** False: the caller has its outcome, or does not wait any longer. */
  get isOpen(): boolean {
    return !this.hasOutcome;
  }

  done(confirmed: Confirmed): void {
    if (this.settle()) this.resolve(confirmed);
  }

  failed(error: unknown): void {
    if (this.settle()) this.reject(error);
  }

  private settle(): boolean {
    if (this.hasOutcome) return false;
    this.hasOutcome = true;
    if (this.onAbort !== null) this.asked.signal?.removeEventListener('abort', this.onAbort);
    return true;
  }
}

/** The change as a request of its own. */
export function single({ kind, name, text, trace }: Asked): Prepared {
  const traced = trace === undefined ? {} : { traceparent: trace };
  if (kind === 'set') {
    const headers = { 'idempotency-key': name, ...traced };
    return { method: 'POST', path: '/timers', headers, text };
  }
  const path = `/timers/${encodeURIComponent(name)}`;
  return { method: kind === 'replace' ? 'PUT' : 'DELETE', path, headers: traced, text };
}

/** The change as an item of a batch. */
export function itemText({ kind, name, text, trace }: Asked): string {
  const named = JSON.stringify(name);
  const traced = trace === undefined ? '' : `,"traceparent":"${trace}"`;
  if (kind === 'set') return `{"change":"set","key":${named}${traced},"timer":${text}}`;
  if (kind === 'replace') return `{"change":"replace","id":${named}${traced},"timer":${text}}`;
  return `{"change":"cancel","id":${named}}`;
}

/** The result of a change that was sent by itself. Throws StrangeAnswer for an answer without the id of a timer. */
export function confirmedOf({ headers }: Answer): Confirmed {
  const location = headers.get('location') ?? '';
  return confirmedAs(location.slice(location.lastIndexOf('/') + 1), headers.get('carillon-copies'));
}

function confirmedAs(id: string, copies: string | null): Confirmed {
  if (!/^[\da-f]+(-\d+)?$/.test(id)) throw new StrangeAnswer('no id of a timer');
  return { id, copies: readCopies(copies) };
}

export type ItemOutcome =
  | { readonly ok: true; readonly confirmed: Confirmed }
  | { readonly ok: false; readonly error: ApiError };

/** Results of the items in the answer to a batch of `count`. Throws StrangeAnswer unless there are as many. */
export function outcomesOf({ body }: Answer, count: number): readonly Fields[] {
  if (Array.isArray(body) && body.length === count) return body.map((item) => new Fields(item));
  throw new StrangeAnswer(`not ${count} outcomes`);
}

/** The result of one item in the answer to a batch. Throws StrangeAnswer for a success without the id of a timer. */
export function itemOutcome(from: Fields): ItemOutcome {
  const status = from.having('status', 'number').number('status');
  if (status >= 200 && status < 300)
    return { ok: true, confirmed: confirmedAs(from.text('id'), from.text('copies')) };
  const seconds = from.numberOrNull('retry-after');
  const retryAfterMs = seconds === null ? null : seconds * 1000;
  return { ok: false, error: new ApiError(status, from.all(), retryAfterMs) };
}

/**
 * Whether a refusal comes from a member that does not know changes by their names: it looked for a timer in the item
 * itself. Nothing was done then.
 */
export function isUnknownForm({ status, problem }: ApiError): boolean {
  const pointer = problem?.pointer;
  return status === 400 && pointer !== undefined && !/^\/(change|id|key|timer)\b/.test(pointer);
}

/** The same refusal with a pointer into the timer, as a single request has it. */
export function inTimer(error: ApiError): ApiError {
  const { status, problem, retryAfterMs } = error;
  const prefix = '/timer';
  if (problem?.pointer?.startsWith(prefix) !== true) return error;
  const told: Problem = { ...problem, pointer: problem.pointer.slice(prefix.length) };
  return new ApiError(status, told, retryAfterMs);
}

/** Ids of one timer differ in more than its number: each change gives out a new one. */
function timerOf({ kind, name }: Asked): string | number | null {
  if (kind === 'set') return null;
  const id = parseLooseTimerId(name);
  return id === null ? name : shortKey(id);
}
