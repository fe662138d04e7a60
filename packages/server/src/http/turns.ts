/**
 * Shares the turns of the event loop among the connections of clients. A turn works on requests for a short while;
 * connections that it has no time for stand in line for the next ones. So however many clients ask, pops, peers and
 * answers get their turn as often as before.
 *
 * T1  A turn begins no request after `workMsMax`, and after `turnMsMax` not even to refuse it. One request may take
 *     as long as it needs.
 * T2  Where many stand in line and have for long, the rest of a turn goes to refusing sets of the party with most
 *     connections in line: quickly refused, its clients can ask another member. Few in line wait: they may have brought
 *     large batches.
 * T3  Parties take turns, and within a party its connections: a party with a thousand connections in line has no more
 *     of a turn than one with a single connection.
 */
import type { Clock } from '@carillon/core';

/** A connection that has a request to work on. */
export interface WaitingClient {
  /** Since when it stands in line. */
  lineMs: number;
  /** The namespace or token of its requests, as far as known; the same for as long as it stands in line. */
  readonly party: string;
  /** Called when there is time for its request. */
  called(): void;
}

const workMsMax = 2;
const turnMsMax = 4;
const longMs = 20;
const manyCount = 256;

export class Turns {
  private readonly clock: Clock;
  /** By party, the one that is next first; within a party longest waiting first. */
  private readonly lines = new Map<string, Set<WaitingClient>>();
  private count = 0;
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
    if ((this.calling || this.count === 0) && nowMs - this.startMs < limitMs) return true;
    connection.lineMs = nowMs;
    const line = this.lines.get(connection.party) ?? new Set();
    if (line.size === 0) this.lines.set(connection.party, line);
    line.add(connection);
    this.count++;
    return false;
  }

  leave(connection: WaitingClient): void {
    const { party } = connection;
    const line = this.lines.get(party);
    if (line?.delete(connection) !== true) return;
    this.count--;
    if (line.size === 0) this.lines.delete(party);
  }

  private begin(nowMs: number): void {
    this.begun = true;
    this.startMs = nowMs;
    this.clock.soon(() => this.next());
  }

  private next(): void {
    this.begun = false;
    if (this.count === 0) return;
    this.begin(this.clock.now());
    this.calling = true;
    this.workOnce();
    if (this.count > manyCount) this.refuseSome();
    this.calling = false;
    this.refuses = false;
  }

  /** One connection of each party, again and again, while there is time. */
  private workOnce(): void {
    // A party that goes to the end of the map comes once more, in this turn or in the next.
    for (const [party, line] of this.lines) {
      if (this.clock.now() - this.startMs >= workMsMax) return;
      this.lines.delete(party);
      this.lines.set(party, line);
      this.call(line);
    }
  }

  private refuseSome(): void {
    this.refuses = true;
    const longest = this.longestLine();
    for (const { lineMs } of longest) {
      const nowMs = this.clock.now();
      const isOver = nowMs - this.startMs >= turnMsMax || this.count <= manyCount;
      if (isOver || nowMs - lineMs <= longMs) return;
      this.call(longest);
    }
  }

  private longestLine(): Set<WaitingClient> {
    let longest = new Set<WaitingClient>();
    for (const line of this.lines.values()) if (line.size > longest.size) longest = line;
    return longest;
  }

  /** Calls the connection that has stood in this line for longest. */
  private call(line: Set<WaitingClient>): void {
    const [connection] = line;
    if (connection === undefined) return;
    this.leave(connection);
    connection.called();
  }
}
