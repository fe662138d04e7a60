/**
 * Networks that live in one process, on any Clock: frames take `delayMs` each way, may be lost, and pairs can be cut.
 * Order between two addresses is kept. Every party gets its own `Network` from one `MemoryHub`.
 */
import type { CallTerms, Clock, FrameAnswered, FrameHandler, Network, Random } from '../env.ts';

export interface MemoryHubOptions {
  readonly clock: Clock;
  /** Needed only when frames are to be lost. */
  readonly random?: Random;
  readonly delayMs?: number;
}

export class MemoryHub {
  readonly clock: Clock;
  delayMs: number;
  /** Share of frames and answers that vanish. */
  lossRatio = 0;
  private readonly random: Random | null;
  private readonly parties = new Map<string, MemoryNetwork>();
  private readonly cuts = new Set<string>();

  constructor({ clock, random, delayMs = 1 }: MemoryHubOptions) {
    this.clock = clock;
    this.random = random ?? null;
    this.delayMs = delayMs;
  }

  /** The network as the party at `address` sees it. A party that comes back replaces its former self. */
  join(address: string): Network {
    const party = new MemoryNetwork(this, address);
    this.parties.set(address, party);
    return party;
  }

  /** Drops all frames from `from` to `to` from now on; the other direction stays as it is. */
  cut(from: string, to: string): void {
    this.cuts.add(`${from}>${to}`);
  }

  heal(from: string, to: string): void {
    this.cuts.delete(`${from}>${to}`);
  }

  /** Brings something from one party to another, unless the way is cut now or it gets lost. */
  carry(from: string, to: string, arrive: (party: MemoryNetwork) => void): void {
    if (this.cuts.has(`${from}>${to}`)) return;
    if (this.lossRatio > 0 && this.random !== null && this.random.unit() < this.lossRatio) return;
    this.clock.at(this.clock.now() + this.delayMs, () => {
      const party = this.parties.get(to);
      if (party !== undefined) arrive(party);
    });
  }
}

class MemoryNetwork implements Network {
  private readonly hub: MemoryHub;
  private readonly address: string;
  private handler: FrameHandler | null = null;
  private readonly unanswered = new Set<FrameAnswered>();
  private closed = false;

  constructor(hub: MemoryHub, address: string) {
    this.hub = hub;
    this.address = address;
  }

  call(address: string, frame: Uint8Array, { limitMs }: CallTerms, done: FrameAnswered): void {
    const { clock } = this.hub;
    if (this.closed) {
      clock.soon(() => done(null));
      return;
    }
    let open = true;
    const finish: FrameAnswered = (answer) => {
      if (!open) return;
      open = false;
      cancel();
      this.unanswered.delete(finish);
      done(answer);
    };
    const cancel = clock.at(clock.now() + limitMs, () => finish(null));
    this.unanswered.add(finish);
    const copy = frame.slice();
    this.hub.carry(this.address, address, (party) => party.take(copy, this.address, finish));
  }

  listen(handler: FrameHandler): Promise<void> {
    this.handler = handler;
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.closed = true;
    this.handler = null;
    for (const finish of this.unanswered) finish(null);
    return Promise.resolve();
  }

  private take(frame: Uint8Array, from: string, finish: FrameAnswered): void {
    let open = true;
    this.handler?.(frame, (answer) => {
      if (!open || this.closed) return;
      open = false;
      const copy = answer.slice();
      this.hub.carry(this.address, from, () => finish(copy));
    });
  }
}
