/**
 * P4, never later than 2n: the first callback of every pop starts at the latest one interval after it was due, for
 * every interval from 100 ms and from 40 ms for each copy up; at the latest 40 ms for each copy after it was due where
 * the interval is shorter.
 *
 * Excused, and nothing else is: no member that held the timer when it fell due stayed up and running (since the
 * earliest moment at which it can have been due: a member that stood still then does not know whether another one
 * popped) and could reach the receiver for the whole interval; one of them could not reach it, and messages were lost;
 * the receiver had failed shortly before, so that its circuit may be open; the timer was replaced or cancelled, or a
 * request to do so was under way. A pop by the wall clock is due when it is due by all clocks (`dues.ts`), and its
 * interval is the time since the pop before, or since it was set. After a restart a member goes by its wall clock: a
 * pop may be later by as much as wall clocks were set, where members restarted.
 *
 * A holder that had no processor for moments is excused for intervals below 4 s, and where such a moment was in the
 * last second before the limit: a claim of another holder may have held it back until then, and it has to ask that one
 * before it calls.
 */
import { State } from '@carillon/core';
import { firstSentMs, keptUnder, type Operation, opaqueOf, type TimerWish } from '../history.ts';
import type { Checker, Judge } from '../judge.ts';
import { Dues } from './dues.ts';
import { holds } from './holders.ts';
import type { Pops } from './pops.ts';

/** Time for a claim on the shortest intervals, and for the answer on its way to the client. */
const slackMs = 3;
/** A circuit that opened stays open at most this long, and the retry before it may take its time. */
const circuitMs = 20_000;

/** From this interval up a holder that had no processor for a second comes late, but not too late … */
const patientMs = 4000;
/** … unless that was in the last moments before the limit. */
const lastMs = 1000;
const patient = ['down', 'paused'] as const;
const hasty = [...patient, 'stalled'] as const;

/** How late a pop may be. */
export function allowedMs({
  intervalMs,
  factor,
}: Pick<TimerWish, 'intervalMs' | 'factor'>): number {
  const copiesMs = 40 * factor;
  return intervalMs >= Math.max(100, copiesMs) ? intervalMs : copiesMs;
}

export class ByTwice implements Checker {
  private readonly judge: Judge;
  private readonly dues: Dues;
  private readonly pops: Pops;

  constructor(judge: Judge, pops: Pops) {
    this.judge = judge;
    this.dues = new Dues(judge);
    this.pops = pops;
  }

  onAck(operation: Operation): void {
    if (operation.kind === 'cancel') return;
    // A request that may still act would restart or end the timer later than the answer says.
    if (!this.judge.isLastWord(operation)) return;
    this.watch(operation, 1);
  }

  private watch(operation: Operation, sequence: number): void {
    const { wish, ackMs } = operation;
    if (wish === null || ackMs === null || sequence > this.dues.countMin(operation)) return;
    const { world } = this.judge.cluster;
    const dueMs = this.dues.dueByMs(operation, sequence);
    world.at(dueMs, () => {
      if (this.superseded(operation)) return;
      const able = this.able(operation, sequence);
      const lateMs = allowedMs({ ...wish, intervalMs: this.dues.gapMsMax(operation, sequence) });
      const limitMs = dueMs + lateMs + this.judge.driftMs(dueMs - ackMs) + this.judge.steppedMs();
      world.at(limitMs + slackMs, () => this.check(operation, sequence, able));
      this.watch(operation, sequence + 1);
    });
  }

  private check(operation: Operation, sequence: number, able: readonly string[]): void {
    const { judge } = this;
    const { wish, ackMs } = operation;
    if (wish === null || ackMs === null || this.superseded(operation)) return;
    const { nowMs } = judge;
    const first = this.pops.first(operation, sequence);
    if (first !== null && first.startMs <= nowMs) return;
    const dueMs = this.dues.dueByMs(operation, sequence);
    const { receivers, faults } = judge.cluster;
    // The client heard later than the timer was set: by the members the pop was due before that.
    const fromMs = Math.min(dueMs, this.dues.notBeforeMs(operation, sequence));
    const excuses = this.dues.gapMsMin(operation, sequence) < patientMs ? hasty : patient;
    const still = able.filter(
      (name) =>
        faults.find(name, excuses, fromMs, nowMs) === null &&
        faults.find(name, ['stalled'], nowMs - lastMs, nowMs) === null &&
        receivers.wellSince(wish.receiver, name, dueMs - circuitMs),
    );
    if (still.length === 0) return;
    // The first to try could not, and its word to the next was lost.
    const unable = able.some(
      (name) => !receivers.wellSince(wish.receiver, name, dueMs - circuitMs),
    );
    if (unable && judge.faultAnywhere(['network'], dueMs, nowMs) !== null) return;
    judge.violate(
      'P4',
      `Pop ${sequence} of "${opaqueOf(operation)}" (${operation.timer.id}), due at ${dueMs.toFixed(1)}, had not begun at ${nowMs.toFixed(1)}, though ${still.join(', ')} held it and could.`,
    );
  }

  /**
   * Members that run and hold the timer, as the operation set it, with this pop as the next; a copy that missed earlier
   * pops is not up to it, nor is one of an earlier operation whose successor was destroyed.
   */
  private able(operation: Operation, sequence: number): string[] {
    if (operation.timer.id === null) return [];
    const { hi, lo } = keptUnder(operation.timer);
    return this.judge.cluster.healthy
      .filter(({ member }) => {
        const record = member?.store.get(hi, lo);
        if (record?.state !== State.live || record.sequence !== sequence - 1) return false;
        return member !== null && holds(member, operation);
      })
      .map(({ name }) => name);
  }

  private superseded({ timer, index }: Operation): boolean {
    const next = timer.operations[index];
    return next !== undefined && firstSentMs(next) <= this.judge.nowMs;
  }
}
