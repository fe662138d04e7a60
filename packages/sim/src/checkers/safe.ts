/**
 * P1, acknowledged means safe: at the moment a client hears a 2xx, as many members hold the record as the answer says
 * (a member that crashed since the request was sent counts: it may have had it; one that was down before does not). A
 * stand-in that gave its copy up counts too, when every replica that its holders list has the record. So does a copy
 * with a higher version, where an attempt at an earlier change of the timer was still under way: a member that stood
 * still reads it, from a client that has given it up, while the answer to this change is on its way.
 * With members down but nothing else amiss, that is as many as the members that are up can hold: others stand in.
 */
import { compareVersions } from '@carillon/core';
import { firstSentMs, keptUnder, type Operation, opaqueOf, settledMs } from '../history.ts';
import type { Member } from '@carillon/server/internal';
import type { Checker, Judge } from '../judge.ts';
import { holds } from './holders.ts';

/** Leases end, views settle. */
const settleMs = 15_000;

export class Safe implements Checker {
  private readonly judge: Judge;
  private readonly activeNames: () => readonly string[];

  constructor(judge: Judge, activeNames: () => readonly string[]) {
    this.judge = judge;
    this.activeNames = activeNames;
  }

  onAck(operation: Operation): void {
    const { judge } = this;
    const { id } = operation.timer;
    if (id === null) return;
    const sentMs = firstSentMs(operation);
    this.checkAll(operation, sentMs);
    const holders = this.holders(operation);
    const crashed = [...judge.cluster.members.keys()].filter(
      (name) => !holders.includes(name) && judge.faults.ended(name, sentMs, judge.nowMs),
    );
    if (holders.length + crashed.length >= operation.have) return;
    if (this.isComplete(operation, holders)) return;
    judge.violate(
      'P1',
      `"${opaqueOf(operation)}" (${id}) was acknowledged with ${operation.have} copies, but ${holders.length === 0 ? 'no member' : `only ${holders.join(', ')}`} has it.`,
    );
  }

  /** With members down for a while and no other fault, the running members hold as many copies as possible. */
  private checkAll(operation: Operation, sentMs: number): void {
    const { judge } = this;
    const { members, faults, healthy } = judge.cluster;
    const fromMs = sentMs - settleMs;
    for (const name of members.keys()) {
      const amiss = faults.find(
        name,
        ['paused', 'stalled', 'network', 'disk', 'view'],
        fromMs,
        judge.nowMs,
      );
      if (amiss !== null || faults.changed(name, ['down'], fromMs, judge.nowMs)) return;
    }
    const able = healthy.filter(({ name }) => this.activeNames().includes(name)).length;
    const wanted = Math.min(operation.wish?.factor ?? operation.wanted, able);
    if (operation.have >= wanted) return;
    judge.violate(
      'P1',
      `"${opaqueOf(operation)}" got ${operation.have} copies, though ${able} members could hold ${wanted}.`,
    );
  }

  /** Whether all members that a holder lists have the record, and are as many as there should be copies. */
  private isComplete(operation: Operation, holders: readonly string[]): boolean {
    const { hi, lo } = keptUnder(operation.timer);
    return holders.some((name) => {
      const { member } = this.judge.cluster.member(name);
      const { replicas = [], factor = 0 } = member?.store.get(hi, lo) ?? {};
      return replicas.length >= factor && replicas.every((listed) => holders.includes(listed));
    });
  }

  private holders(operation: Operation): string[] {
    const { members } = this.judge.cluster;
    const isUndone = this.canBeUndone(operation);
    return [...members.values()]
      .filter(
        ({ member }) =>
          member !== null &&
          (holds(member, operation) || (isUndone && hasNewer(member, operation))),
      )
      .map(({ name }) => name);
  }

  /** Whether an attempt at an earlier change could still act when this one was sent. */
  private canBeUndone(operation: Operation): boolean {
    const { timer, index } = operation;
    const sentMs = firstSentMs(operation);
    return timer.operations.slice(0, index - 1).some((earlier) => settledMs(earlier) > sentMs);
  }
}

function hasNewer(member: Member, { timer, version }: Operation): boolean {
  const { hi, lo } = keptUnder(timer);
  const record = member.store.get(hi, lo);
  return record !== undefined && version !== null && compareVersions(record, version) > 0;
}
