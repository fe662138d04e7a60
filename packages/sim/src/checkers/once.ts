/**
 * P5, once unless something failed: a pop that the receiver took is not delivered again, unless its first caller
 * never heard of the success, or one of the two callers was killed, paused, cut off or had lost messages meanwhile. A
 * change of the view and a member that was told to stop are no excuse; a full or failing disk anywhere is. A duplicate
 * looks exactly like the first.
 *
 * A caller that had no processor for up to a second is no excuse either, from an interval of 4 s up: below that the
 * others cannot wait for it and still be inside 2n. The interval of a pop by the wall clock is the time since the pop
 * before, or since it was set. Clocks that differ are no excuse.
 *
 * A member that was down for so long that the others had forgotten that the timer ended brings its record back, and
 * any replica may pop it then. Such a record cannot be told from one that reached no other member before the one that
 * has it went down, and to lose a timer is worse. So a pop may come again later than ended timers are remembered,
 * when a member has come back with the timer alive after it was down for more than half of that time, or has come back
 * with it after damage to a disk took the record of the end.
 *
 * Damage may take the word of a pop that a member made or heard of, and leave its older record of the timer. It comes
 * back with that record, and the pop is made again, if no other member that runs knows of the pop: to wait for one that
 * is down may be to lose the timer. A member that has run for long enough to be heard, and knows, leaves no excuse.
 *
 * Two replicas that were told to stop one after the other, and never up together in between, cannot have told each
 * other of the pop. With a third replica this is an excuse only if no other member was up with the first caller since.
 *
 * A call that was made because another one could not be heard of is a duplicate too. When that other one fails, its
 * retry may be made beside the duplicate: the member that makes the retry was told of the failure alone.
 *
 * A dead letter that is sent again is such a duplicate when another member delivered the pop while the member that
 * gave it up could not hear of it: a third member may then send the letter, so a fault of any member is an excuse.
 */
import { type Checker, type Judge, noticeMs, repairMs } from '../judge.ts';
import type { ReceivedCall } from '../world/calls.ts';
import { Dues } from './dues.ts';
import { knowsOf } from './holders.ts';

const kinds = ['killed', 'paused', 'network', 'disk'] as const;

/** From this interval up a member that stood still for a second comes late, not twice. */
const patientMs = 4000;

export class Once implements Checker {
  private readonly judge: Judge;
  private readonly dues: Dues;
  private readonly byPop = new Map<string, ReceivedCall[]>();

  constructor(judge: Judge) {
    this.judge = judge;
    this.dues = new Dues(judge);
  }

  onCall(call: ReceivedCall): void {
    const earlier = this.byPop.get(call.popId);
    if (earlier === undefined) {
      this.byPop.set(call.popId, [call]);
      return;
    }
    for (const first of earlier) this.compare(first, call, besides(first, earlier));
    earlier.push(call);
  }

  /** `beside`: members whose calls of the pop were under way when the first began. */
  private compare(first: ReceivedCall, second: ReceivedCall, beside: readonly string[]): void {
    const { judge } = this;
    const same = ['number', 'sequence', 'body', 'receiver'] as const;
    const differs = same.find((field) => first[field] !== second[field]);
    if (differs !== undefined) {
      judge.violate('P5', `Two callbacks for ${first.popId} differ in their ${differs}.`);
    }
    // Not taken by the receiver, and its caller knows: the second is a retry.
    if (first.endMs !== null && first.effectMs === null) return;
    if (this.explained(first, second, beside)) return;
    const when = first.endMs === null ? 'while the first was under way' : 'after it was delivered';
    judge.violate(
      'P5',
      `${second.by} popped ${first.popId} again at ${second.startMs}, ${when} by ${first.by} at ${first.startMs}, and no fault explains it.`,
    );
  }

  private isHasty({ body, sequence }: ReceivedCall): boolean {
    const operation = this.judge.history.find(body);
    return operation === null || this.dues.gapMsMin(operation, sequence) < patientMs;
  }

  /**
   * Whether a member came back in between with the timer alive, which it had never heard the end of, while all others
   * had forgotten the end: it was away for long, or damage took the word of the end.
   */
  private forgotten(first: ReceivedCall, second: ReceivedCall): boolean {
    const { judge } = this;
    const { faults, returns, plan } = judge;
    if (second.startMs - first.startMs <= plan.tombstoneMs) return false;
    const names = returns.with(second.number, first.startMs, second.startMs);
    if (names.length === 0) return false;
    if (judge.faultAnywhere(['rot'], first.startMs - repairMs, second.startMs) !== null)
      return true;
    return names.some(
      (name) => faults.downBefore(name, first.startMs, second.startMs) > plan.tombstoneMs / 2,
    );
  }

  /** Whether damage took the word of the first call, and no member that could be asked has it. */
  private damageTook(first: ReceivedCall, second: ReceivedCall): boolean {
    const { cluster, history, returns } = this.judge;
    if (!returns.damagedWith(second.number, first.startMs, second.startMs)) return false;
    const namespace = history.find(second.body)?.timer.namespace;
    if (namespace === undefined) return false;
    return !cluster.healthy.some(
      ({ name, member, servingSinceMs }) =>
        member !== null &&
        (name === second.by || servingSinceMs <= second.startMs - noticeMs) &&
        knowsOf(member, second, namespace),
    );
  }

  /**
   * Whether the second caller was down at the first call and never up with the first caller since, and no more than two
   * replicas are wanted, or no other member was up with the first caller either.
   */
  private neverMet(first: ReceivedCall, second: ReceivedCall): boolean {
    const { faults, history, cluster } = this.judge;
    if (first.by === second.by) return false;
    if (faults.find(second.by, ['down'], first.startMs, first.startMs) === null) return false;
    const factor = history.find(second.body)?.wish?.factor ?? 1;
    const others = factor > 2 ? [...cluster.members.keys()] : [second.by];
    return others.every(
      (name) =>
        name === first.by ||
        faults.togetherMs([first.by, name], first.startMs, second.startMs) < noticeMs,
    );
  }

  private explained(first: ReceivedCall, second: ReceivedCall, beside: readonly string[]): boolean {
    const { faults } = this.judge;
    const heard = first.result;
    if (heard !== null && !(heard.kind === 'answer' && heard.status < 300)) return true;
    const fromMs = first.startMs - noticeMs;
    const resent = this.judge.history.asked('redeliver', second, second.startMs);
    if (resent && this.judge.faultAnywhere(kinds, fromMs, second.startMs) !== null) return true;
    if (this.forgotten(first, second) || this.neverMet(first, second)) return true;
    if (this.damageTook(first, second)) return true;
    // A replica that refuses records leaves them with stand-ins that do not know each other.
    if (this.judge.faultAnywhere(['disk'], fromMs, second.startMs) !== null) return true;
    const excuses = this.isHasty(second) ? [...kinds, 'stalled' as const] : kinds;
    return [first.by, second.by, ...beside].some(
      (name) => faults.find(name, excuses, fromMs, second.startMs) !== null,
    );
  }
}

/** The members whose calls of the same pop were under way when this one began. */
function besides(call: ReceivedCall, calls: readonly ReceivedCall[]): string[] {
  const { startMs } = call;
  return calls
    .filter((other) => other.startMs < startMs && (other.endMs === null || other.endMs > startMs))
    .map(({ by }) => by);
}
