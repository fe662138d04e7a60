/**
 * Receivers by script, in virtual time: keeps every request and answers it as the script says. Like the real
 * port it calls `done` exactly once, never before `call` has returned, and at `limitMs` at the latest.
 */
import type { CallbackRequest, CallbackResult, Callbacks, Cancel, Clock } from '../env.ts';

/** A status, a whole result, or nothing at all until the time limit; `afterMs` later than the call if given. */
export type FakeAnswer =
  | number
  | 'hang'
  | CallbackResult
  | { readonly afterMs: number; readonly answer: number | CallbackResult };

/** The receiver's answer to its `index`-th request (from 0, counted over all requests). */
export type CallbackScript = (request: CallbackRequest, index: number) => FakeAnswer;

export interface FakeCall {
  readonly request: CallbackRequest;
  /** On the clock given to the fake. */
  readonly startMs: number;
  /** null while the request is in flight. */
  result: CallbackResult | null;
  endMs: number | null;
}

const timeout: CallbackResult = {
  kind: 'no-answer',
  reason: 'timeout',
  detail: 'The receiver did not answer in time.',
};
const cut: CallbackResult = {
  kind: 'no-answer',
  reason: 'cut',
  detail: 'The member closed its connections.',
};

const closed: CallbackResult = {
  kind: 'unmade',
  detail: 'The member closed its connections.',
  waitMs: 1000,
};

export class FakeCallbacks implements Callbacks {
  /** Every request so far, in the order made. */
  readonly calls: FakeCall[] = [];
  /** Replace it at any time; it decides the requests made from then on. */
  script: CallbackScript;
  private readonly clock: Clock;
  private readonly open = new Map<FakeCall, (result: CallbackResult) => void>();
  private closed = false;

  constructor(clock: Clock, script: CallbackScript = () => 200) {
    this.clock = clock;
    this.script = script;
  }

  get inFlight(): number {
    return this.open.size;
  }

  call(request: CallbackRequest, done: (result: CallbackResult) => void): void {
    const startMs = this.clock.now();
    const call: FakeCall = { request, startMs, result: null, endMs: null };
    this.calls.push(call);
    const { afterMs, result } = this.plan(request);
    let cancel: Cancel = () => {};
    const finish = (outcome: CallbackResult): void => {
      if (!this.open.delete(call)) return;
      cancel();
      call.result = outcome;
      call.endMs = this.clock.now();
      done(outcome);
    };
    this.open.set(call, finish);
    cancel = this.clock.at(startMs + afterMs, () => finish(result));
  }

  close(): Promise<void> {
    this.closed = true;
    for (const finish of this.open.values()) finish(cut);
    return Promise.resolve();
  }

  private plan(request: CallbackRequest): { afterMs: number; result: CallbackResult } {
    if (this.closed) return { afterMs: 0, result: closed };
    const scripted = this.script(request, this.calls.length - 1);
    if (scripted === 'hang') return { afterMs: request.limitMs, result: timeout };
    const delayed = typeof scripted === 'object' && 'afterMs' in scripted;
    const afterMs = delayed ? scripted.afterMs : 0;
    if (afterMs >= request.limitMs) return { afterMs: request.limitMs, result: timeout };
    return { afterMs, result: resultOf(delayed ? scripted.answer : scripted) };
  }
}

function resultOf(answer: number | CallbackResult): CallbackResult {
  if (typeof answer !== 'number') return answer;
  return { kind: 'answer', status: answer, retryAfterMs: null };
}
