/**
 * P7, any member: while the cluster is whole, whatever member a client asks does what it is asked at the first attempt, and
 * reads show what was written through any other.
 */
import { firstSentMs, type Operation, opaqueOf } from '../history.ts';
import { type Checker, type Judge, noticeMs } from '../judge.ts';

const kinds = ['down', 'paused', 'network', 'disk', 'view'] as const;

export class AnyMember implements Checker {
  private readonly judge: Judge;

  constructor(judge: Judge) {
    this.judge = judge;
  }

  onAck(operation: Operation): void {
    const { judge } = this;
    const refused = operation.attempts.filter(
      ({ status, arrivedMs }) => arrivedMs !== null && status !== null && status >= 300,
    );
    if (refused.length === 0) return;
    const fault = judge.faultAnywhere(kinds, firstSentMs(operation) - 2 * noticeMs, judge.nowMs);
    if (fault !== null) return;
    const [attempt] = refused;
    judge.violate(
      'P7',
      `${attempt?.member} answered ${attempt?.status} to "${opaqueOf(operation)}" in a whole cluster.`,
    );
  }

  /** What a read through some member showed: the status, and the opaque of the timer. */
  onRead(timer: Operation['timer'], member: string, status: number, opaque: string | null): void {
    const { judge } = this;
    const last = timer.operations.at(-1);
    if (last === undefined || last.ackMs === null) return;
    const fault = judge.faultAnywhere(kinds, last.ackMs - 2 * noticeMs, judge.nowMs);
    if (fault !== null) return;
    if (last.kind === 'cancel' && status !== 404) {
      judge.violate('P7', `${member} shows "${opaque}" (${status}), which was cancelled.`);
    }
    const { wish } = last;
    if (wish === null) return;
    const endMs = last.ackMs + wish.intervalMs * wish.count;
    if (judge.nowMs < endMs - 100 && opaque !== opaqueOf(last)) {
      judge.violate('P7', `${member} answered ${status} for "${opaqueOf(last)}", which lives.`);
    }
  }
}
