/** The parts of a run that every checker sees, and the report of a broken promise. */
import { compareVersions } from '@carillon/core';
import { FaultLog, type Kind, noticeMs } from './world/fault-log.ts';
import type { Attempt, History, Operation } from './history.ts';
import { firstSentMs, isSettled, settledMs } from './history.ts';
import { LostCopies } from './lost-copies.ts';
import type { Plan } from './plan.ts';
import { Returns } from './returns.ts';
import type { ReceivedCall } from './world/calls.ts';
import type { SimCluster } from './sim-cluster.ts';

export interface Violation {
  readonly promise: string;
  readonly atMs: number;
  readonly says: string;
}

/** A watcher of one promise. It sees requests, answers, callbacks and faults; never the state inside members. */
export interface Checker {
  onCall?(call: ReceivedCall): void;
  onAck?(operation: Operation): void;
  /** The run is over; everything was whole for the last minutes of it. */
  finish?(): void | Promise<void>;
}

/** With so many broken promises the rest says nothing new. */
const violationsMax = 20;

export class Judge {
  readonly cluster: SimCluster;
  readonly history: History;
  readonly plan: Plan;
  readonly violations: Violation[] = [];
  readonly lostCopies: LostCopies;
  readonly returns: Returns;

  constructor(cluster: SimCluster, history: History, plan: Plan) {
    this.cluster = cluster;
    this.history = history;
    this.plan = plan;
    this.lostCopies = new LostCopies(cluster, history);
    this.returns = new Returns(cluster);
  }

  get faults(): FaultLog {
    return this.cluster.faults;
  }

  get nowMs(): number {
    return this.cluster.world.nowMs;
  }

  violate(promise: string, says: string): void {
    const { world } = this.cluster;
    world.trace.note(world.nowMs, `VIOLATION ${promise}: ${says}`);
    if (this.violations.length < violationsMax) {
      this.violations.push({ promise, atMs: world.nowMs, says });
    }
  }

  /** A fault of these kinds at any member between two moments; null: the cluster was whole. */
  faultAnywhere(kinds: readonly Kind[], fromMs: number, toMs: number): string | null {
    for (const name of this.cluster.members.keys()) {
      const found = this.faults.find(name, kinds, fromMs, toMs);
      if (found !== null) return found;
    }
    return null;
  }

  /** The first later operation that was surely asked for after this one could act for the last time. */
  supersededBy(operation: Operation): Operation | null {
    const endMs = settledMs(operation);
    const later = operation.timer.operations.slice(operation.index);
    const next = later.find((one) => one.ackMs !== null && firstSentMs(one) >= endMs);
    return next === undefined || this.isUnordered(operation, next) ? null : next;
  }

  /**
   * Whether nothing that was asked for before this can still undo it, nor an attempt that the client gave up on, at
   * once or when a split heals.
   */
  isLastWord(operation: Operation): boolean {
    if (!isSettled(operation)) return false;
    const { timer, index } = operation;
    return !timer.operations.slice(0, index - 1).some((one) => this.isUnordered(one, operation));
  }

  /**
   * Whether an attempt at `earlier` was given a higher version than `later`, and nothing could have told the member
   * that gave `later` its version: its client had not seen that version, because another client asked or the answer
   * never came, and the two members were apart. Their wall clocks are then all there is to go by, for any system in
   * which both sides of a split take changes. A client that had seen the version, or members that could talk, are no
   * excuse.
   */
  private isUnordered(earlier: Operation, later: Operation): boolean {
    const { version, seen } = later;
    if (version === null) return false;
    return earlier.attempts.some((attempt) => {
      const given = attempt.version ?? null;
      if (given === null || compareVersions(given, version) < 0) return false;
      if (seen !== null && compareVersions(given, seen) <= 0) return false;
      return this.wereApart(attempt, later);
    });
  }

  /** Whether one of the two members was cut off, stood still or was down at some time between the two changes. */
  private wereApart({ member, arrivedMs }: Attempt, { attempts, ackMs }: Operation): boolean {
    const names = [member, attempts.at(-1)?.member ?? ''];
    return names.some(
      (name) =>
        this.faults.find(name, ['network', 'paused', 'down'], arrivedMs ?? 0, ackMs ?? 0) !== null,
    );
  }

  /** Whether the last copy of the timer, as the operation set it, was destroyed: the timer may be gone. */
  destroyed(operation: Operation): boolean {
    return this.lostCopies.has(operation);
  }

  /** A bound on how much faster than true time any two clocks may measure `spanMs`. */
  driftMs(spanMs: number): number {
    const worst = Math.max(...this.plan.members.map(({ clock }) => Math.abs(clock.driftPpm)));
    return (spanMs * 2 * worst) / 1e6;
  }

  /** How far wall clocks were set in all: after a restart they decide when a timer is due. */
  steppedMs(): number {
    const restarts = ['crash', 'restart', 'blackout', 'disk-fails', 'rot'];
    if (!this.plan.faults.some(({ kind }) => restarts.includes(kind))) return 0;
    let sum = 0;
    for (const fault of this.plan.faults) if (fault.kind === 'step') sum += Math.abs(fault.byMs);
    return sum;
  }
}

/** After this long without further faults every timer has its copies again. */
export const repairMs = 120_000;

export { noticeMs };
