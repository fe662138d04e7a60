/**
 * Judges the recorded history of real processes with the simulator's own checkers, where they look from outside; the
 * checkers that need a look into simulated members (P2, P4, P6) are written anew here, from the calls that the
 * receiver saw.
 *
 * Differences from the simulator: the moment a request reached its member is not known, so the moment it was sent
 * stands for it; the moment a callback started is that of its arrival; and the calling member is not known, so a
 * fault anywhere explains a duplicate.
 */
import { NeverEarly } from '../../../packages/sim/src/checkers/never-early.ts';
import { Once } from '../../../packages/sim/src/checkers/once.ts';
import { Pops } from '../../../packages/sim/src/checkers/pops.ts';
import { FaultLog, type Kind } from '../../../packages/sim/src/world/fault-log.ts';
import {
  firstSentMs,
  History,
  numberOf,
  type Operation,
  opaqueOf,
  settledMs,
} from '../../../packages/sim/src/history.ts';
import { Judge, noticeMs } from '../../../packages/sim/src/judge.ts';
import type { Plan } from '../../../packages/sim/src/plan.ts';
import type { SimCluster } from '../../../packages/sim/src/sim-cluster.ts';
import { Trace } from '../../../packages/sim/src/world/trace.ts';
import { MachineWatch } from './machine-watch.ts';
import { type RecordedCall, someMember } from './recorder.ts';

/** The header has whole milliseconds, and so has the clock it is compared with. */
const grainMs = 1;
/** From the member's decision to the receiver's clock, on a machine that does other things too. */
const slackMs = 500;

const excuses = ['network', 'paused', 'stalled', 'down'] as const;

export class Court {
  readonly history = new History();
  readonly pops = new Pops();
  readonly judge: Judge;
  private readonly faults = new FaultLog();
  private readonly checkers;
  private readonly popIds = new Set<string>();
  private callCount = 0;
  private readonly watch = new MachineWatch(() =>
    this.fault('stalled', 'the machine had no time for the members'),
  );

  constructor() {
    const world = {
      get nowMs() {
        return performance.now();
      },
      trace: new Trace(false),
    };
    // All that the judge asks of a cluster and a plan.
    const cluster = { faults: this.faults, members: new Map([[someMember, null]]), world };
    const plan = { members: [{ clock: { driftPpm: 0 } }], faults: [] };
    this.judge = new Judge(cluster as unknown as SimCluster, this.history, plan as unknown as Plan);
    this.checkers = [this.pops, new NeverEarly(this.judge), new Once(this.judge)];
  }

  /** The longest time in which the machine ran none of the processes. */
  get stallMs(): number {
    return this.watch.longestMs;
  }

  close(): void {
    this.watch.stop();
  }

  /** Notes the beginning of a fault; the returned function notes its end. */
  fault(kind: Kind, what: string): () => void {
    const kinds = kind === 'down' ? (['down', 'killed'] as const) : [kind];
    const ends = kinds.map((one) => this.faults.begin(someMember, one, what, performance.now()));
    return () => {
      for (const end of ends) end(performance.now());
    };
  }

  heard(call: RecordedCall): void {
    this.callCount++;
    this.popIds.add(call.popId);
    for (const checker of this.checkers) checker.onCall(call);
    this.judgeSticking(call);
    if (call.latenessMs < -grainMs) {
      this.judge.violate('P3', `${call.popId} came ${-call.latenessMs} ms before it was due.`);
    }
  }

  /** Acknowledged timers that were neither replaced nor cancelled. */
  binding(): Operation[] {
    return this.history.timers.flatMap(({ operations }) => {
      const operation = operations.at(-1);
      if (operation === undefined || operation.ackMs === null || operation.kind === 'cancel')
        return [];
      const sentMs = firstSentMs(operation);
      return operations.slice(0, -1).every((one) => settledMs(one) <= sentMs) ? [operation] : [];
    });
  }

  /** Whether every pop of every acknowledged timer whose time was over at `atMs` has reached the receiver. */
  completeAt(atMs: number): boolean {
    return this.binding().every((operation) => this.missing(operation, atMs) === null);
  }

  /** The promises broken until `atMs`, in sentences. Pops that may still come in time are not missed. */
  verdict(atMs: number): string[] {
    for (const operation of this.binding()) {
      const lost = this.missing(operation, atMs);
      if (lost !== null) {
        this.judge.violate('P2', `Pop ${lost} of ${nameOf(operation)} never came.`);
      }
      this.judgeLateness(operation);
    }
    return this.judge.violations.map(({ promise, says }) => `${promise}: ${says}`);
  }

  /** Callbacks beyond the first of their pop. All of them are explained when the verdict is empty. */
  get duplicates(): number {
    return this.callCount - this.popIds.size;
  }

  /** P6: no pop of a replaced or cancelled timer, unless a member stood still or was cut off or down just before. */
  private judgeSticking(call: RecordedCall): void {
    const { judge } = this;
    const operation = this.history.find(call.body);
    if (operation === null || call.number !== numberOf(operation.timer)) return;
    const next = judge.supersededBy(operation);
    if (next === null || next.ackMs === null || next.ackMs > call.startMs) return;
    const fromMs = call.startMs - noticeMs;
    if (judge.faultAnywhere(excuses, fromMs, call.startMs) !== null) return;
    const what = next.kind === 'cancel' ? 'cancelled' : 'replaced';
    const sinceMs = Math.round(call.startMs - next.ackMs);
    judge.violate('P6', `${call.popId} came ${sinceMs} ms after its timer was ${what}.`);
  }

  /** The first pop that did not come although its time was over at `atMs`. */
  private missing(operation: Operation, atMs: number): number | null {
    const { intervalMs, count } = operation.wish ?? { intervalMs: 0, count: 0 };
    const ackMs = operation.ackMs ?? 0;
    for (let k = 1; k <= count && ackMs + (k + 1) * intervalMs + slackMs < atMs; k++) {
      if (!this.pops.delivered(operation, k)) return k;
    }
    return null;
  }

  /** P4: by twice the interval. At least one replica is alive at every moment of every story told here. */
  private judgeLateness(operation: Operation): void {
    const { wish, ackMs } = operation;
    // An attempt that may have acted after the answer would have restarted the timer then.
    if (wish === null || ackMs === null || settledMs(operation) > ackMs) return;
    for (let k = 1; k <= wish.count; k++) {
      const first = this.pops.first(operation, k);
      const limitMs = ackMs + (k + 1) * wish.intervalMs + slackMs + 2 * this.stallMs;
      if (first === null || first.startMs <= limitMs) continue;
      const lateMs = Math.round(first.startMs - ackMs - k * wish.intervalMs);
      this.judge.violate('P4', `Pop ${k} of ${nameOf(operation)} was ${lateMs} ms late.`);
    }
  }
}

function nameOf(operation: Operation): string {
  const { intervalMs, count } = operation.wish ?? { intervalMs: 0, count: 0 };
  return `"${opaqueOf(operation)}" (${operation.timer.id}, ${count} × ${intervalMs} ms)`;
}
