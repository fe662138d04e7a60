/**
 * Who may show a certificate: the members of the view, and for a while those who just left it, because they still hand
 * their timers on.
 */
import type { Clock } from '@carillon/core';
import type { ViewSpec } from './view.ts';

export class KnownMembers {
  private readonly clock: Clock;
  private readonly formerMs: number;
  private present = new Set<string>();
  private byPeer = new Map<string, string>();
  /** Name → until when. */
  private readonly former = new Map<string, number>();

  /** `formerMs`: how long somebody who left the view is still let in. */
  constructor(clock: Clock, formerMs: number) {
    this.clock = clock;
    this.formerMs = formerMs;
  }

  update({ members }: ViewSpec): void {
    const before = this.present;
    this.present = new Set(members.map(({ name }) => name));
    this.byPeer = new Map(members.map(({ name, peer }) => [peer, name]));
    const untilMs = this.clock.now() + this.formerMs;
    for (const name of before) if (!this.present.has(name)) this.former.set(name, untilMs);
    for (const name of this.present) this.former.delete(name);
  }

  /** Who may connect. */
  *names(): Generator<string> {
    yield* this.present;
    const nowMs = this.clock.now();
    for (const [name, untilMs] of this.former) {
      if (nowMs < untilMs) yield name;
      else this.former.delete(name);
    }
  }

  /** Who listens for peers there. */
  at(address: string): string | undefined {
    return this.byPeer.get(address);
  }
}
