/**
 * P6, updates and cancels stick: once a client has heard that its timer was cancelled or replaced, no callback of the
 * former timer starts, except by a member that is cut off or paused at that moment (or was, less than the time it
 * takes to notice), was down while the request was carried out and has just come back, or comes back before any
 * member that knows of the change. A caller that holds the change itself has no excuse. A dead letter of it can still
 * be sent again. The judge decides which of two changes came later: clients that know nothing of each other, on two
 * sides of a split, are ordered by clocks.
 */
import { firstSentMs, numberOf, type Operation } from '../history.ts';
import { type Checker, type Judge, noticeMs } from '../judge.ts';
import type { ReceivedCall } from '../world/calls.ts';
import { holds } from './holders.ts';

export class Sticks implements Checker {
  private readonly judge: Judge;

  constructor(judge: Judge) {
    this.judge = judge;
  }

  onCall(call: ReceivedCall): void {
    const { judge } = this;
    const operation = judge.history.find(call.body);
    if (operation === null || call.number !== numberOf(operation.timer)) return;
    const next = judge.supersededBy(operation);
    if (next === null || next.ackMs === null || next.ackMs > call.startMs) return;
    if (judge.history.asked('redeliver', call, call.startMs)) return;
    if (!this.knew(call, next) && this.excused(call, next)) return;
    const what = next.kind === 'cancel' ? 'cancelled' : 'replaced';
    judge.violate(
      'P6',
      `${call.by} called back for ${call.popId} at ${call.startMs}, though the timer was ${what} at ${next.ackMs}.`,
    );
  }

  /** Whether the caller itself held the change: then nothing excuses it. */
  private knew(call: ReceivedCall, next: Operation): boolean {
    const caller = this.judge.cluster.members.get(call.by)?.member ?? null;
    return caller !== null && holds(caller, next);
  }

  private excused(call: ReceivedCall, next: Operation): boolean {
    const { judge } = this;
    // A request that may still act can undo a later change.
    const fault = judge.faults.find(
      call.by,
      ['network', 'paused'],
      call.startMs - noticeMs,
      call.startMs,
    );
    if (fault !== null || judge.destroyed(next) || this.wasAway(call, next)) return true;
    return !this.knowers(call, next);
  }

  /** Whether another member knew of the change and could have been asked. */
  private knowers(call: ReceivedCall, next: Operation): boolean {
    const { cluster, faults } = this.judge;
    const fromMs = call.startMs - noticeMs;
    return cluster.healthy.some(
      ({ name, member }) =>
        name !== call.by &&
        member !== null &&
        holds(member, next) &&
        faults.find(name, ['down', 'paused', 'network'], fromMs, call.startMs) === null,
    );
  }

  private wasAway(call: ReceivedCall, next: Operation): boolean {
    const ackMs = next.ackMs ?? 0;
    if (call.startMs > ackMs + noticeMs) return false;
    return this.judge.faults.find(call.by, ['down'], firstSentMs(next), ackMs) !== null;
  }
}
