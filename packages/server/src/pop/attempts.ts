/**
 * One attempt at a pop: from the moment its request may leave to the record that comes of it, on disk and at the other
 * replicas. `after-attempt.ts` works the record out; here it is carried out.
 *
 * Example: pop 3 of a timer leaves at 30.000 s. The receiver answers 200 at 30.050 s: the record with sequence 3, due
 * at 40.000 s, is written and sent to the others. It answers 500 instead: the record keeps sequence 2, with attempt 1
 * and a retry within 1 s. The limits of the retry policy are used up: a dead letter is stored first, and only then the
 * record moves on to sequence 3.
 */
import {
  type Attempted,
  type CallbackResult,
  type Clock,
  compareProgress,
  type Definition,
  invariant,
  type TimerRecord,
  type Unmade,
} from '@carillon/core';
import type { PopContext } from '../callback/request.ts';
import { attemptToFill, type Notes } from '../history/entry.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Numbered } from '../replication/wire/parts.ts';
import type { Replica } from '../replication/replica.ts';
import type { PopSpan, PopTracer } from '../telemetry/pop-tracer.ts';
import { afterPop, type Instant, missedPops } from '../timer/schedule.ts';
import type { Batches } from './sending/batches.ts';
import { type After, afterAttempt, afterRefusal } from './outcome/after-attempt.ts';
import type { BareAttempt, History } from './outcome/history.ts';
import { answerClass, attemptOf, detailOf, wordless } from './outcome/outcome.ts';
import { concerns, missedFrom, type Pop } from './pop.ts';
import { succeeded } from './outcome/retry.ts';
import type { FailingReceivers } from './failures/failing-receivers.ts';
import { failureOf } from '../timer/attempt.ts';
import { isUnderWay, type PopAction, type PopEvent } from './pop-phase.ts';
import type { PopRules } from './pop-rules.ts';

export interface AttemptsParts {
  readonly clock: Clock;
  readonly replica: Pick<Replica, 'get' | 'write'>;
  readonly metrics: Pick<
    Metrics,
    'callbackAnswers' | 'callbackDuration' | 'events' | 'popLateness' | 'pops' | 'receiverLateness'
  >;
  readonly batches: Pick<Batches, 'delayedUntilMs'>;
  readonly history: History;
  /** null: no history is kept on disk. */
  readonly historyLog: Notes | null;
  /** The number under which members keep a timer that clients know by this id. */
  readonly numberOf: (namespace: string, id: string) => Numbered | null;
  readonly failing: Pick<FailingReceivers, 'note' | 'succeeded'>;
  /** Whether the first bytes of the answers of failing receivers are kept for this namespace. */
  readonly keepsAnswers: (namespace: string) => boolean;
  readonly rules: PopRules;
  readonly instant: () => Instant;
  /** Sends a new state of a record to its other replicas, and to members that have it though they are not listed. */
  readonly tell: (record: TimerRecord, unlisted: readonly string[]) => void;
  /** Finds replicas for a new record and stores it there; false when none confirmed. */
  readonly keep: (record: TimerRecord, done: (kept: boolean) => void) => void;
  /** A letter is safe: raises the events that are wanted about it; `done` once they are safe too, or cannot be. */
  readonly announce: (letter: TimerRecord, done: () => void) => void;
  /** null: nothing is recorded. */
  readonly tracer: PopTracer | null;
  /** Tells the popper of an event. */
  readonly happens: (pop: Pop, event: PopEvent) => PopAction;
  /** Looks at a record again after a while. */
  readonly again: (handle: number, afterMs: number) => void;
}

/** Another try after a dead letter found no replica to keep it. */
const deadLetterRetryMs = 5000;

export class Attempts {
  private readonly parts: AttemptsParts;
  private readonly entry = attemptToFill();

  constructor(parts: AttemptsParts) {
    this.parts = parts;
  }

  /** The request of the pop leaves now. */
  begin(pop: Pop, nowMs: number): PopContext {
    const { batches, rules, instant } = this.parts;
    const at = instant();
    const { record } = pop;
    pop.startMs = nowMs;
    pop.delayed = record.attempt === 0 && record.dueMs <= batches.delayedUntilMs(pop.to);
    pop.missed = missedPops(record, pop.definition, at);
    invariant(nowMs >= record.retryMs, 'no callback starts before it is due');
    const isClaimed = pop.others.length === 0 || nowMs < pop.untilMs;
    invariant(isClaimed, 'the claim of a pop is held when its request leaves');
    const context = rules.context(pop, at);
    pop.span = this.parts.tracer?.begin(context, nowMs) ?? null;
    if (pop.span !== null) context.trace = pop.span.trace;
    return context;
  }

  /** The request was answered, failed, or did not leave. */
  ended(pop: Pop, result: CallbackResult): void {
    const { metrics, rules, happens } = this.parts;
    const at = this.parts.instant();
    const { span } = pop;
    pop.span = null;
    if (result.kind === 'unmade') return this.unmade(pop, result, at);
    this.measureLateness(pop, result);
    metrics.callbackDuration.observe(at.nowMs - pop.startMs);
    metrics.callbackAnswers.add(answerClass(result));
    const told = this.remember(pop, result, at);
    const current = this.present(pop);
    if (current === null) {
      happens(pop, 'superseded');
      metrics.pops.add('superseded');
      return this.recorded(span, result, 'superseded', at);
    }
    const circumstances = rules.circumstances(pop, missedFrom(pop, current), at);
    const after = afterAttempt(current, pop.definition, told, circumstances);
    this.carryOut(pop, current, after);
    this.recorded(span, result, after.kind, at);
  }

  /**
   * Lateness tells of the member, so pops that waited for their receiver are counted apart. So are pops without an
   * answer: a backup makes a pop that the replicas before it put off for such a receiver, and may not have met it yet.
   */
  private measureLateness({ record, startMs, delayed }: Pop, result: Attempted): void {
    if (record.attempt > 0) return;
    const { popLateness, receiverLateness } = this.parts.metrics;
    const isOfReceiver = delayed || result.kind === 'no-answer';
    (isOfReceiver ? receiverLateness : popLateness).observe(startMs - record.dueMs);
  }

  private recorded(
    span: PopSpan | null,
    result: Attempted,
    outcome: string,
    { nowMs: answeredMs }: Instant,
  ): void {
    const { tracer, clock } = this.parts;
    if (span !== null) tracer?.end(span, { result, outcome, answeredMs, endMs: clock.now() });
  }

  /** The result without the words of the receiver, where the namespace wants none of them kept. */
  private remember(pop: Pop, result: Attempted, at: Instant): Attempted {
    const { history, keepsAnswers, failing } = this.parts;
    const { record, to } = pop;
    const attempt = attemptOf(pop, result, at);
    if (succeeded(result)) {
      failing.succeeded(to);
      history.add(record, attempt, '');
      this.note(pop, attempt, '', at);
      return result;
    }
    const told = keepsAnswers(record.namespace) ? result : wordless(result);
    const detail = detailOf(told);
    history.add(record, attempt, detail);
    this.note(pop, attempt, detail, at);
    const isEvent = pop.definition.event !== null;
    failing.note({ ...to, failure: failureOf(attempt.outcome) ?? '', detail, isEvent });
    return told;
  }

  /** Attempts at a letter are attempts at a pop of its timer. */
  private note(pop: Pop, attempt: BareAttempt, detail: string, { wallMs }: Instant): void {
    const { historyLog } = this.parts;
    if (historyLog === null) return;
    const { record, definition, position } = pop;
    const { hi, lo } = this.timerOf(record, definition);
    const { entry } = this;
    entry.wallMs = wallMs;
    entry.namespace = record.namespace;
    entry.hi = hi;
    entry.lo = lo;
    entry.sequence = attempt.sequence;
    entry.attempt = attempt.attempt;
    entry.latenessMs = attempt.latenessMs;
    entry.tookMs = attempt.tookMs;
    entry.outcome = attempt.outcome;
    entry.position = position;
    entry.detail = detail;
    historyLog.note(entry);
  }

  /** The pop is a dead letter now. */
  private noteGivenUp({ record, definition, missed }: Pop): void {
    const { historyLog, instant } = this.parts;
    const { namespace, versionMs, versionTie } = record;
    const { hi, lo } = this.timerOf(record, definition);
    historyLog?.note({
      kind: 'change',
      wallMs: instant().wallMs,
      namespace,
      hi,
      lo,
      action: 'give-up',
      versionMs,
      versionTie,
      sequence: definition.origin?.sequence ?? record.sequence + missed + 1,
      actor: '',
      tag: '',
    });
  }

  private timerOf(record: TimerRecord, { origin }: Definition): Numbered {
    if (origin === null) return record;
    return this.parts.numberOf(record.namespace, origin.id) ?? record;
  }

  /** A pop whose record has gone to another by then is not judged. */
  private unmade(pop: Pop, result: Unmade, at: Instant): void {
    const { rules, happens } = this.parts;
    if (happens(pop, 'unmade') !== 'judge') return;
    pop.startMs = at.nowMs;
    pop.missed = missedPops(pop.record, pop.definition, at);
    const current = this.present(pop);
    if (current === null) return void happens(pop, 'superseded');
    const circumstances = rules.circumstances(pop, pop.missed, at);
    this.carryOut(pop, current, afterRefusal(current, pop.definition, result, circumstances));
  }

  /** The record as it is now, if it still waits for the outcome of this pop. */
  private present(pop: Pop): TimerRecord | null {
    if (pop.unchanged && isUnderWay(pop.phase)) return pop.record;
    const current = this.parts.replica.get(pop.record.hi, pop.record.lo);
    return current !== undefined && concerns(pop, current) ? current : null;
  }

  private carryOut(pop: Pop, current: TimerRecord, after: After): void {
    const { metrics, keep, announce, happens, again } = this.parts;
    switch (after.kind) {
      case 'delivered':
        metrics.pops.add('delivered');
        for (let i = 0; i < pop.missed; i++) metrics.pops.add('merged');
        return this.settle(pop, after.record, current);
      case 'retry':
        metrics.pops.add('retried');
        return this.settle(pop, after.record);
      case 'wait':
        happens(pop, 'rest');
        return again(pop.handle, after.waitMs);
      case 'letter':
        if (pop.definition.origin === null) {
          happens(pop, 'give-up');
          return keep(after.letter, (kept) => {
            if (!kept) this.buried(pop, after.record, false);
            else announce(after.letter, () => this.buried(pop, after.record, true));
          });
        }
        metrics.pops.add('dead');
        this.noteGivenUp(pop);
        this.settle(pop, after.letter);
        return announce(after.letter, () => undefined);
      case 'forgotten':
        metrics.pops.add('dead');
        metrics.events.add('given_up');
        return this.settle(pop, after.record);
    }
  }

  /** The dead letter is safe (or found no place): now the timer may move on (or must wait). */
  private buried(pop: Pop, attempted: TimerRecord, kept: boolean): void {
    const { clock, metrics, instant, happens, again } = this.parts;
    const current = this.present(pop);
    if (current === null) return void happens(pop, 'superseded');
    const { attempt, outcome, triedMs } = attempted;
    if (!kept) {
      const retryMs = clock.now() + deadLetterRetryMs;
      const tried = { ...current, attempt, outcome, triedMs, retryMs };
      if (attempt > current.attempt) return this.settle(pop, tried);
      // Given up for having waited: there is no attempt to write down.
      happens(pop, 'rest');
      return again(pop.handle, deadLetterRetryMs);
    }
    metrics.pops.add('dead');
    this.noteGivenUp(pop);
    const missed = missedFrom(pop, current);
    const next = afterPop(current, pop.definition, missed, instant());
    this.settle(pop, { ...next, outcome });
  }

  /**
   * The pop is over: its outcome goes to disk and to the other replicas. `stored`: the record that is there now, if at
   * hand.
   */
  private settle(pop: Pop, next: TimerRecord, stored?: TimerRecord): void {
    const { replica, tell, happens } = this.parts;
    invariant(compareProgress(next, pop.record) > 0, 'a pop moves its record on');
    happens(pop, 'outcome');
    replica.write(next, stored);
    tell(next, pop.unlisted);
  }
}
