/**
 * P3, never early: no callback starts before its due time. The due time counts from the moment the first request for
 * it reached a member, on true time; only the error of members' clocks that run too fast is allowed. Timers at an
 * instant or by cron go by wall clocks: their error is allowed too, as `dues.ts` says. Nor are there more pops than
 * were asked for.
 */
import { bodyOf, earliestMs } from '../history.ts';
import type { Checker, Judge } from '../judge.ts';
import type { ReceivedCall } from '../world/calls.ts';
import { Dues } from './dues.ts';

/** Rounding of clocks that drift. */
const grainMs = 0.01;

export class NeverEarly implements Checker {
  private readonly judge: Judge;
  private readonly dues: Dues;

  constructor(judge: Judge) {
    this.judge = judge;
    this.dues = new Dues(judge);
  }

  onCall(call: ReceivedCall): void {
    const { judge } = this;
    const operation = judge.history.find(call.body);
    if (operation === null || operation.wish === null) {
      return judge.violate('P3', `${call.by} called back for "${call.body}", which no client set.`);
    }
    if (call.body !== bodyOf(operation)) {
      judge.violate(
        'P2',
        `${call.by} called back for ${call.popId} with another body than was set.`,
      );
    }
    const count = this.dues.countMax(operation);
    if (call.sequence > count) {
      judge.violate(
        'P3',
        `${call.by} popped ${call.popId} as number ${call.sequence} of ${count}.`,
      );
    }
    const dueMs = this.dues.notBeforeMs(operation, call.sequence);
    const spanMs = dueMs - earliestMs(operation);
    const earlyMs = dueMs - call.startMs - judge.driftMs(spanMs) - judge.steppedMs() - grainMs;
    if (earlyMs > 0) {
      judge.violate(
        'P3',
        `${call.by} popped ${call.popId} at ${call.startMs}, ${earlyMs.toFixed(3)} ms before it was due.`,
      );
    }
  }
}
