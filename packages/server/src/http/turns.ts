/**
 * Shares the turns of the event loop among the connections of clients. A turn works on requests for a short while;
 * connections that it has no time for stand in line for the next ones. So however many clients ask, pops, peers and
 * answers get their turn as often as before.
 *
 * T1  A turn begins no request after `workMsMax`, and after `turnMsMax` not even to refuse it. One request may take
 *     as long as it needs.
 * T2  Where many stand in line and have for long, the rest of a turn goes to refusing their sets: quickly refused,
 *     their clients can ask another member. Few in line wait: they may have brought large batches.
 */
import type { Clock } from '@carillon/core';

/** A connection that has a request to work on. */
export interface WaitingClient {
  /** Since when it stands in line. */
  lineMs: number;
  /** Called when there is time for its request. */
  called(): void;
}

const workMsMax = 2;
const turnMsMax = 4;
const longMs = 20;
const manyCount = 256;

export class Turns {
  private readonly clock: Clock;
  /** Longest waiting first. */
  private readonly line = new Set<WaitingClient>();
  private startMs = 0;
  private begun = false;
  private calling = false;
  private refuses = false;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Whether sets are to be refused now. */
  get refusing(): boolean {
    return this.refuses;
  }

  /** Whether the connection may have a request worked on now; if not, it is called when there is time. */
  admits(connection: WaitingClient): boolean {
    const nowMs = this.clock.now();
    if (!this.begun) this.begin(nowMs);
    const limitMs = this.refuses ? turnMsMax : workMsMax;
    if ((this.calling || this.line.size === 0) && nowMs - this.startMs < limitMs) return true;
    connection.lineMs = nowMs;
    this.line.add(connection);
    return false;
  }

  leave(connection: WaitingClient): void {
    this.line.delete(connection);
  }

  private begin(nowMs: number): void {
    this.begun = true;
    this.startMs = nowMs;
    this.clock.soon(() => this.next());
  }

  private next(): void {
    this.begun = false;
    if (this.line.size === 0) return;
    this.begin(this.clock.now());
    this.calling = true;
    for (const connection of this.line) {
      if (!this.hasTimeFor(connection)) break;
      this.line.delete(connection);
      connection.called();
    }
    this.calling = false;
    this.refuses = false;
  }

  private hasTimeFor({ lineMs }: WaitingClient): boolean {
    const nowMs = this.clock.now();
    const spentMs = nowMs - this.startMs;
    this.refuses = spentMs >= workMsMax;
    if (!this.refuses) return true;
    return spentMs < turnMsMax && this.line.size > manyCount && nowMs - lineMs > longMs;
  }
}
