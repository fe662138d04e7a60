/**
 * P8, members come and go: when everything has been whole for a while, every timer that still has pops ahead is held
 * by exactly the members that placement names in the view of now, with the same state, and by no other member. So
 * nothing was lost, all copies are back, and nothing moved that did not have to.
 */
import { type TimerRecord, compareProgress, State } from '@carillon/core';
import { View } from '@carillon/server/internal';
import { keptUnder, type Operation, opaqueOf } from '../history.ts';
import type { Checker, Judge } from '../judge.ts';
import { Dues } from './dues.ts';

export class ComeAndGo implements Checker {
  private readonly judge: Judge;
  private readonly activeNames: () => readonly string[];
  private readonly dues: Dues;

  constructor(judge: Judge, activeNames: () => readonly string[]) {
    this.judge = judge;
    this.activeNames = activeNames;
    this.dues = new Dues(judge);
  }

  finish(): void {
    const { judge } = this;
    const { views } = judge.cluster;
    const members = this.activeNames().map((name) => views.memberOf(name));
    const view = new View({ source: 'static', revision: 1, members });
    for (const timer of judge.history.timers) {
      const operation = timer.operations.at(-1);
      if (operation !== undefined && this.lives(operation)) this.check(operation, view);
    }
  }

  /** Whether a pop of it lies surely ahead. */
  private lives(operation: Operation): boolean {
    const { judge } = this;
    const { wish, ackMs } = operation;
    if (wish === null || ackMs === null || judge.destroyed(operation)) return false;
    if (!judge.isLastWord(operation)) return false;
    const marginMs = 2000 + judge.steppedMs() + judge.driftMs(judge.nowMs);
    return this.dues.livesUntilMs(operation) > judge.nowMs + marginMs;
  }

  private check(operation: Operation, view: View): void {
    const { judge } = this;
    const id = operation.timer.id ?? '';
    const { hi, lo } = keptUnder(operation.timer);
    const wanted = view.place(hi, lo, operation.wish?.factor ?? 1);
    const copies = new Map<string, TimerRecord>();
    for (const { name, member } of judge.cluster.members.values()) {
      const record = member?.store.get(hi, lo);
      if (record?.state === State.live) copies.set(name, record);
    }
    const holders = [...copies.keys()];
    const missing = wanted.filter((name) => !copies.has(name));
    const extra = holders.filter((name) => !wanted.includes(name));
    const says = `"${opaqueOf(operation)}" (${id}) should be at ${wanted.join(', ')} and is at ${holders.join(', ') || 'no member'}`;
    if (missing.length > 0 || extra.length > 0) return judge.violate('P8', `${says}.`);
    const [first, ...rest] = [...copies.values()];
    if (first === undefined) return;
    // Not at the very moment of a pop, when copies differ for as long as a message takes.
    const isQuiet = this.dues.isQuiet(operation, judge.nowMs, 1000);
    if (isQuiet && rest.some((record) => compareProgress(record, first) !== 0)) {
      judge.violate('P8', `${says}, but the copies differ.`);
    }
    if (first.replicas.join() !== wanted.join()) {
      judge.violate('P8', `${says}, but its list of replicas is ${first.replicas.join(', ')}.`);
    }
  }
}
