/**
 * How long a frame was on its way: in the network, in the queue of its sender's socket, and unread in that of a member
 * that had no time. A record travels with its age, so without this its copy is late by as long as the frame was.
 *
 * A frame tells what the clocks of its sender showed when it was written. The difference to the reader's clocks is how
 * far the two are apart, and the time on the way. The least difference of the last one to two seconds, in which there
 * are hellos at least, is that of a frame that was hardly on its way at all: a frame is late by as much as it differs
 * more.
 *
 * D1  Never too much, so that no copy is early: the quickest frame was on its way too, and what two clocks may drift
 *     apart meanwhile is taken off.
 * D2  Of what the monotonic clocks and the wall clocks say, the lesser counts. A monotonic clock begins anew with its
 *     process and may stand still in a suspended machine; a wall clock may be set. Each of these makes frames seem
 *     late, and not both clocks.
 * D3  More than a second is not believed: rule M5 of `merge.ts` looks after such copies.
 *
 * Example: b's clock shows 5,000.0 ms more than a's. Hellos of a differ by 5,000.3 ms. A frame with 500 sets differs by
 * 5,041.3 ms: it was 40 ms on its way, so a timer that was 2 ms old when it was written began 42 ms ago.
 */
import type { Moment } from './wire/parts.ts';

/** The least difference is that of one to two of these. */
const spanMs = 1000;
/** Two clocks drift apart by less than this in two spans: 500 millionths. */
const driftMs = 1;
const believedMsMax = 1000;
/** More than any cluster has members: names come from frames. */
const wayCountMax = 1000;

interface Way {
  readonly monotonic: Least;
  readonly wall: Least;
}

export class FrameDelays {
  private readonly ways = new Map<string, Way>();

  /** How long a frame was on its way from a member, `written` by its clocks and `read` by this member's. */
  of(from: string, written: Moment, read: Moment): number {
    let way = this.ways.get(from);
    if (way === undefined) {
      if (this.ways.size >= wayCountMax) this.ways.clear();
      way = { monotonic: new Least(), wall: new Least() };
      this.ways.set(from, way);
    }
    const { nowMs } = read;
    const delayMs = Math.min(
      way.monotonic.excessMs(nowMs - written.nowMs, nowMs),
      way.wall.excessMs(read.wallMs - written.wallMs, nowMs),
    );
    return delayMs > driftMs && delayMs <= believedMsMax ? delayMs - driftMs : 0;
  }

  /** Forgets members that have left the view. */
  retain(names: ReadonlySet<string>): void {
    for (const name of this.ways.keys()) if (!names.has(name)) this.ways.delete(name);
  }
}

/** The least of the differences of one to two spans. */
class Least {
  private leastMs = Number.POSITIVE_INFINITY;
  /** That of the span before. */
  private beforeMs = Number.POSITIVE_INFINITY;
  private sinceMs = Number.NEGATIVE_INFINITY;

  /** How much more this difference is; 0: it is the least. */
  excessMs(differenceMs: number, nowMs: number): number {
    if (nowMs - this.sinceMs >= spanMs) {
      this.beforeMs = nowMs - this.sinceMs < 2 * spanMs ? this.leastMs : Number.POSITIVE_INFINITY;
      this.leastMs = Number.POSITIVE_INFINITY;
      this.sinceMs = nowMs;
    }
    this.leastMs = Math.min(this.leastMs, differenceMs);
    return differenceMs - Math.min(this.leastMs, this.beforeMs);
  }
}
