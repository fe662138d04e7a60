/**
 * Judges a soak after the fact, from the requests of clients and their answers, the calls that the receiver saw, and
 * the times at which each member was at fault. P3 and P5 are the simulator's own checkers; P1, P2, P4, P6 and P7 are
 * its rules without a look into members, each stated at its function. A member that had no processor for up to a
 * second is no excuse for a timer of 4 s and more; one that had none for longer counts as one that was paused.
 * Planned changes are no faults.
 */
import { NeverEarly } from '../../packages/sim/src/checkers/never-early.ts';
import { Once } from '../../packages/sim/src/checkers/once.ts';
import { Pops } from '../../packages/sim/src/checkers/pops.ts';
import { FaultLog, type Kind, noticeMs } from '../../packages/sim/src/world/fault-log.ts';
import {
  firstSentMs,
  type History,
  numberOf,
  type Operation,
  opaqueOf,
  settledMs,
} from '../../packages/sim/src/history.ts';
import { Judge } from '../../packages/sim/src/judge.ts';
import type { Plan } from '../../packages/sim/src/plan.ts';
import type { SimCluster } from '../../packages/sim/src/sim-cluster.ts';
import { Trace } from '../../packages/sim/src/world/trace.ts';
import { type RecordedCall, someMember } from '../e2e/support/recorder.ts';
import { anyKind, faultKinds, inSeconds, isStall, type Window, type Windows } from './windows.ts';

export interface Evidence {
  readonly history: History;
  /** In the order of their arrival. */
  readonly calls: readonly RecordedCall[];
  readonly windows: Windows;
  /** Members that are always there. */
  readonly members: readonly string[];
  /** Opaque and sequence of each, with a space between. */
  readonly deadLetters: ReadonlySet<string>;
  /** When the receiver itself could not look: calls that arrived then were seen at the end of it. */
  readonly blind: readonly { readonly fromMs: number; readonly toMs: number }[];
}

export interface Counts {
  readonly sets: number;
  readonly cancels: number;
  readonly pops: number;
  readonly callbacks: number;
  readonly lost: number;
  readonly early: number;
  /** After 2n. Excused: as many members were away as the timer had copies. */
  readonly late: { readonly broken: number; readonly excused: number };
  readonly twice: { readonly outside: number; readonly inside: number };
  /** Callbacks of timers that had been cancelled or replaced. */
  readonly revived: { readonly broken: number; readonly excused: number };
  /** Confirmed by fewer members than asked for. */
  readonly fewCopies: { readonly broken: number; readonly excused: number };
  /** Requests that no member took, and answers other than 2xx while the cluster was whole. */
  readonly refused: number;
}

export interface Verdict {
  readonly counts: Counts;
  /** In sentences, the first of them. */
  readonly broken: readonly string[];
}

/** The clock of the header and that of the receiver have whole milliseconds. */
const grainMs = 1;
/** The way of the callback to the receiver. */
const wayMs = 50;
/** Leases end, views settle. */
const settleMs = 15_000;
const requestMs = 4000;

export function judgeSoak(evidence: Evidence): Verdict {
  return new Checker(evidence).verdict();
}

/**
 * The simulator's judge, at the moment of the call under judgement; also counts violations beyond the ones it prints.
 */
class SoakJudge extends Judge {
  readonly counts = new Map<string, number>();
  private readonly windows: Windows;

  constructor({ history, windows, members }: Evidence, world: { nowMs: number; trace: Trace }) {
    // All that the checkers ask of a cluster and a plan.
    const names = [someMember, ...members];
    const cluster = {
      faults: faultLogOf(windows.all),
      members: new Map(names.map((name) => [name, null])),
      world,
    };
    const plan = { members: [{ clock: { driftPpm: 0 } }], faults: [] };
    super(cluster as unknown as SimCluster, history, plan as unknown as Plan);
    this.windows = windows;
  }

  of(promise: string): number {
    return this.counts.get(promise) ?? 0;
  }

  override violate(promise: string, says: string): void {
    this.counts.set(promise, this.of(promise) + 1);
    super.violate(
      promise,
      `${says} (At ${inSeconds(this.nowMs)}; ${this.windows.lastBefore(this.nowMs)}.)`,
    );
  }
}

/** The calling member is not always known: every fault is also one of `someMember`. */
function faultLogOf(windows: readonly Window[]): FaultLog {
  const log = new FaultLog();
  for (const window of windows) {
    const { member, kind, what, fromMs, toMs } = window;
    if (kind === 'planned' || kind === 'stopped') continue;
    const starved = isStall(window) ? 'stalled' : 'paused';
    const known = kind === 'starved' ? starved : kind;
    const kinds: Kind[] = known === 'down' ? ['down', 'killed'] : [known];
    for (const name of [member, someMember]) {
      for (const one of kinds) log.begin(name, one, what, fromMs)(toMs);
    }
  }
  return log;
}

class Checker {
  private readonly evidence: Evidence;
  private readonly world = { nowMs: 0, trace: new Trace(false) };
  private readonly judge: SoakJudge;
  private readonly pops = new Pops();
  private readonly excused = { late: 0, revived: 0, fewCopies: 0 };
  private readonly popIds = new Set<string>();
  private twiceOutside = 0;

  constructor(evidence: Evidence) {
    this.evidence = evidence;
    this.judge = new SoakJudge(evidence, this.world);
  }

  verdict(): Verdict {
    this.hearCalls();
    const operations = this.evidence.history.timers.flatMap((timer) => timer.operations);
    for (const operation of operations) {
      this.judgeCopies(operation);
      this.judgeRefusals(operation);
    }
    for (const operation of this.binding()) this.judgePops(operation);
    const { judge } = this;
    const broken = judge.violations.map(({ promise, says }) => `${promise}: ${says}`);
    return { counts: this.counts(operations), broken };
  }

  private hearCalls(): void {
    const { judge, pops } = this;
    const early = new NeverEarly(judge);
    const once = new Once(judge);
    for (const call of this.evidence.calls) {
      this.world.nowMs = call.startMs;
      pops.onCall(call);
      early.onCall(call);
      if (call.latenessMs < -grainMs) {
        judge.violate('P3', `${call.popId} came ${-call.latenessMs} ms before it was due.`);
      }
      const before = judge.of('P5');
      once.onCall(call);
      if (judge.of('P5') > before) this.twiceOutside++;
      this.popIds.add(call.popId);
      this.judgeSticking(call);
    }
  }

  /** P1: in a cluster that has been whole for a while, a confirmed timer has all its copies. */
  private judgeCopies(operation: Operation): void {
    const { ackMs, have, wanted } = operation;
    if (ackMs === null || have >= wanted) return;
    const span = { fromMs: firstSentMs(operation) - settleMs, toMs: ackMs };
    if (this.evidence.windows.touching(anyKind, span).length > 0) {
      this.excused.fewCopies++;
      return;
    }
    this.violateAt(
      ackMs,
      'P1',
      `${nameOf(operation)} was confirmed with ${have} of ${wanted} copies.`,
    );
  }

  /** P7: some member takes every request, unless all were away; and in a whole cluster the first that is asked. */
  private judgeRefusals(operation: Operation): void {
    const { attempts, ackMs, kind } = operation;
    const { windows, members } = this.evidence;
    const span = {
      fromMs: firstSentMs(operation),
      toMs: ackMs ?? (attempts.at(-1)?.sentMs ?? 0) + requestMs,
    };
    const tries = attempts
      .map(({ member, status }) => `${member} ${status ?? 'no answer'}`)
      .join(', ');
    if (ackMs === null) {
      const absent = windows.absentIn(span);
      if (members.some((name) => !absent.has(name))) {
        this.violateAt(span.fromMs, 'P7', `No member took a ${kind}: ${tries}.`);
      }
      return;
    }
    if (attempts.every(({ status }) => status === null || status < 300)) return;
    const settled = { fromMs: span.fromMs - 2 * noticeMs, toMs: span.toMs };
    if (windows.touching(anyKind, settled).length > 0) return;
    this.violateAt(span.fromMs, 'P7', `A ${kind} was refused in a whole cluster: ${tries}.`);
  }

  /** Acknowledged timers that were neither replaced nor cancelled. */
  private binding(): Operation[] {
    return this.evidence.history.timers.flatMap(({ operations }) => {
      const last = operations.at(-1);
      if (last === undefined || last.ackMs === null || last.kind === 'cancel') return [];
      const sentMs = firstSentMs(last);
      return operations.slice(0, -1).every((one) => settledMs(one) <= sentMs) ? [last] : [];
    });
  }

  /** P2: each pop came, or lies in a dead letter. No copy is destroyed in a soak: there is no excuse. */
  private judgePops(operation: Operation): void {
    const { wish, ackMs } = operation;
    if (wish === null || ackMs === null) return;
    for (let k = 1; k <= wish.count; k++) {
      const dueMs = ackMs + k * wish.intervalMs;
      if (this.pops.delivered(operation, k)) this.judgeLateness(operation, k, dueMs);
      else if (!this.evidence.deadLetters.has(`${opaqueOf(operation)} ${k}`)) {
        this.violateAt(dueMs, 'P2', `Pop ${k} of ${nameOf(operation)} never came.`);
      }
    }
  }

  /**
   * P4: by 2n. Excused only when as many members were away between n and 2n as the timer has copies: then all of them
   * may have been. A member that is cut off from others still reaches the receiver: no excuse. An attempt that may have
   * acted after the answer would have restarted the timer then: nothing is known.
   */
  private judgeLateness(operation: Operation, sequence: number, dueMs: number): void {
    const { wish, ackMs, have } = operation;
    const first = this.pops.first(operation, sequence);
    if (wish === null || ackMs === null || first === null || settledMs(operation) > ackMs) return;
    const limitMs = dueMs + wish.intervalMs + wayMs;
    if (this.seenMs(first.startMs) <= limitMs) return;
    const absent = this.evidence.windows.absentIn({ fromMs: dueMs, toMs: limitMs });
    if (absent.size >= Math.min(wish.factor, have)) {
      this.excused.late++;
      return;
    }
    const lateMs = Math.round(first.startMs - dueMs);
    const says = `Pop ${sequence} of ${nameOf(operation)}, confirmed with ${have} copies, came ${lateMs} ms late`;
    this.violateAt(dueMs, 'P4', `${says}, by ${first.by} in attempt ${first.attempt}.`);
  }

  /**
   * P6: no pop of a cancelled or replaced timer, except by a member that is cut off or stands still, or was so until
   * just before; or that was away meanwhile and is back before it, or the members that it must ask, can know.
   */
  private judgeSticking(call: RecordedCall): void {
    const { judge } = this;
    const operation = judge.history.find(call.body);
    if (operation === null || call.number !== numberOf(operation.timer)) return;
    const next = judge.supersededBy(operation);
    if (next === null || next.ackMs === null) return;
    if (next.ackMs > this.seenMs(call.startMs)) return;
    const { faults } = judge;
    const fromMs = call.startMs - noticeMs;
    const isAtFault = faults.find(call.by, ['network', 'paused'], fromMs, call.startMs) !== null;
    if (isAtFault || this.wasAway(call, next)) {
      this.excused.revived++;
      return;
    }
    const what = next.kind === 'cancel' ? 'cancelled' : 'replaced';
    const sinceMs = Math.round(call.startMs - next.ackMs);
    judge.violate('P6', `${call.by} called for ${call.popId} ${sinceMs} ms after it was ${what}.`);
  }

  private wasAway(call: RecordedCall, next: Operation): boolean {
    const { faults } = this.judge;
    const ackMs = next.ackMs ?? 0;
    if (faults.find(call.by, ['down'], firstSentMs(next), ackMs) === null) return false;
    if (call.startMs <= ackMs + noticeMs) return true;
    const span = { fromMs: call.startMs - noticeMs, toMs: call.startMs };
    return this.evidence.windows
      .touching(faultKinds, span)
      .some(({ member }) => member !== call.by);
  }

  /** The earliest moment at which a call that was noticed now can have arrived. */
  private seenMs(atMs: number): number {
    const blind = this.evidence.blind.find(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs);
    return blind?.fromMs ?? atMs;
  }

  private violateAt(atMs: number, promise: string, says: string): void {
    this.world.nowMs = atMs;
    this.judge.violate(promise, says);
  }

  private counts(operations: readonly Operation[]): Counts {
    const { judge, excused, popIds, twiceOutside } = this;
    const confirmed = operations.filter(({ ackMs }) => ackMs !== null);
    const sets = confirmed.filter(({ kind }) => kind === 'set').length;
    const callbacks = this.evidence.calls.length;
    return {
      sets,
      cancels: confirmed.length - sets,
      pops: popIds.size,
      callbacks,
      lost: judge.of('P2'),
      early: judge.of('P3'),
      late: { broken: judge.of('P4'), excused: excused.late },
      twice: { outside: twiceOutside, inside: callbacks - popIds.size - twiceOutside },
      revived: { broken: judge.of('P6'), excused: excused.revived },
      fewCopies: { broken: judge.of('P1'), excused: excused.fewCopies },
      refused: judge.of('P7'),
    };
  }
}

function nameOf(operation: Operation): string {
  const { kind, wish, timer } = operation;
  const what = wish === null ? kind : `${wish.count} × ${wish.intervalMs} ms`;
  return `"${opaqueOf(operation)}" (${timer.id}, ${what})`;
}
