/**
 * The names that certificates may show: the members of the view, and for a while members that just left it, because
 * they still hand their timers on, or have vanished and still hold timers.
 */
import type { Clock } from '@carillon/core';
import type { ViewSpec } from '../view/view.ts';

export class KnownMembers {
  private readonly clock: Clock;
  private readonly formerMs: number;
  private present = new Set<string>();
  private byPeer = new Map<string, string>();
  /** By name: where it listens for peers, and until when it is let in. */
  private readonly former = new Map<string, { peer: string; untilMs: number }>();

  /** `formerMs`: how long a member that left the view is still let in. */
  constructor(clock: Clock, formerMs: number) {
    this.clock = clock;
    this.formerMs = formerMs;
  }

  update({ members }: ViewSpec): void {
    const before = this.byPeer;
    this.present = new Set(members.map(({ name }) => name));
    this.byPeer = new Map(members.map(({ name, peer }) => [peer, name]));
    const untilMs = this.clock.now() + this.formerMs;
    for (const [peer, name] of before) {
      if (!this.present.has(name)) this.former.set(name, { peer, untilMs });
    }
    for (const name of this.present) this.former.delete(name);
  }

  /** Names of all members that may connect. */
  *names(): Generator<string> {
    yield* this.present;
    this.forget();
    yield* this.former.keys();
  }

  /** Name of the member that listens for peers at this address. */
  at(address: string): string | undefined {
    const name = this.byPeer.get(address);
    if (name !== undefined) return name;
    this.forget();
    for (const [former, { peer }] of this.former) if (peer === address) return former;
    return undefined;
  }

  private forget(): void {
    const nowMs = this.clock.now();
    for (const [name, { untilMs }] of this.former) {
      if (nowMs >= untilMs) this.former.delete(name);
    }
  }
}
