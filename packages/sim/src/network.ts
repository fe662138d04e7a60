/**
 * The cables between members. A frame takes its time, and may be lost, late, doubled or overtaken; a pair of members
 * can be cut in one direction or both; an answer can get lost after the call acted. What happens to a frame is drawn
 * when it is sent, and whether the way is open when it arrives.
 */
import type { FrameHandler, Network } from '@carillon/core';
import type { SeededRandom } from '@carillon/core/testing';
import type { FaultLog } from './fault-log.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

type Done = (answer: Uint8Array | null) => void;

/** A frame later than this counts as a fault: claims do not wait much longer for short intervals. */
const lateMs = 5;

export class Cables {
  readonly world: World;
  readonly faults: FaultLog;
  private readonly random: SeededRandom;
  private readonly parties = new Map<string, Party>();
  private readonly cuts = new Map<string, number>();
  private readonly arrivals = new Map<string, number>();
  /** Each way, drawn evenly from half of this to all of it. */
  delayMs = 1;
  lossRatio = 0;
  duplicateRatio = 0;
  overtakeRatio = 0;
  /** This part of the frames takes up to `slowMs` longer. */
  slowRatio = 0;
  slowMs = 0;

  constructor(options: { world: World; faults: FaultLog; random: SeededRandom }) {
    this.world = options.world;
    this.faults = options.faults;
    this.random = options.random;
  }

  /** The network of a process; a later one of the same name takes its place. */
  join(process: Process): Network {
    const party = new Party(this, process);
    this.parties.set(process.name, party);
    return party;
  }

  /** Nothing gets from `from` to `to` until what is returned is called. Cuts add up. */
  cut(from: string, to: string): () => void {
    const key = `${from}>${to}`;
    this.cuts.set(key, (this.cuts.get(key) ?? 0) + 1);
    const { nowMs } = this.world;
    const ends = [from, to].map((name) => this.faults.begin(name, 'network', `cut ${key}`, nowMs));
    this.world.trace.note(nowMs, `cut ${key}`);
    return () => {
      this.cuts.set(key, (this.cuts.get(key) ?? 1) - 1);
      for (const end of ends) end(this.world.nowMs);
      this.world.trace.note(this.world.nowMs, `mended ${key}`);
    };
  }

  isCut(from: string, to: string): boolean {
    return (this.cuts.get(`${from}>${to}`) ?? 0) > 0;
  }

  party(name: string): Party | undefined {
    return this.parties.get(name);
  }

  /** Brings something from one member to another, or loses it on the way. */
  carry(from: string, to: string, arrive: () => void): void {
    const { random } = this;
    if (this.lossRatio > 0 && random.chance(this.lossRatio)) {
      this.fault(from, to, 'lost');
      return;
    }
    const twice = this.duplicateRatio > 0 && random.chance(this.duplicateRatio);
    if (twice) this.fault(from, to, 'doubled');
    for (let i = 0; i < (twice ? 2 : 1); i++) this.carryOnce(from, to, arrive);
  }

  private carryOnce(from: string, to: string, arrive: () => void): void {
    const { random, world } = this;
    const key = `${from}>${to}`;
    const slow =
      this.slowRatio > 0 && random.chance(this.slowRatio) ? random.unit() * this.slowMs : 0;
    const delayMs = this.delayMs * (0.5 + random.unit() / 2) + slow;
    const overtakes = this.overtakeRatio > 0 && random.chance(this.overtakeRatio);
    if (overtakes) this.fault(from, to, 'overtook');
    let atMs = world.nowMs + delayMs;
    if (!overtakes) {
      atMs = Math.max(atMs, this.arrivals.get(key) ?? 0);
      this.arrivals.set(key, atMs);
    }
    if (atMs - world.nowMs > lateMs) {
      const ends = [from, to].map((name) =>
        this.faults.begin(name, 'network', 'late', world.nowMs),
      );
      for (const end of ends) end(atMs);
    }
    world.at(atMs, () => {
      if (this.isCut(from, to)) return;
      arrive();
    });
  }

  private fault(from: string, to: string, what: string): void {
    const { nowMs } = this.world;
    for (const name of [from, to]) this.faults.note(name, 'network', what, nowMs);
  }
}

class Party implements Network {
  private readonly cables: Cables;
  private readonly process: Process;
  private handler: FrameHandler | null = null;
  private readonly unanswered = new Set<Done>();
  private closed = false;

  constructor(cables: Cables, process: Process) {
    this.cables = cables;
    this.process = process;
  }

  call(address: string, frame: Uint8Array, limitMs: number, done: Done): void {
    const { process, cables } = this;
    const to = address.split(':')[0] ?? '';
    if (this.closed) {
      process.soon(() => done(null));
      return;
    }
    let open = true;
    const finish: Done = (answer) => {
      if (!open) return;
      open = false;
      cancel();
      this.unanswered.delete(finish);
      done(answer);
    };
    const cancel = process.at(process.now() + limitMs, () => finish(null));
    this.unanswered.add(finish);
    const copy = frame.slice();
    cables.world.trace.note(cables.world.nowMs, `${process.name}>${to} ${copy.length}`);
    cables.world.trace.bytes(copy);
    const reply: Done = (answer) => process.arrive(() => finish(answer));
    cables.carry(process.name, to, () => cables.party(to)?.take(copy, process.name, reply));
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

  private take(frame: Uint8Array, from: string, reply: Done): void {
    const { cables, process } = this;
    if (!process.alive) {
      // The machine is there and says that nobody listens; a machine that is gone says nothing.
      if (process.refuses) cables.carry(process.name, from, () => reply(null));
      return;
    }
    process.arrive(() => this.handle(frame, from, reply));
  }

  private handle(frame: Uint8Array, from: string, reply: Done): void {
    const { cables, process } = this;
    this.handler?.(frame, (answer) => {
      if (this.closed || !process.alive) return;
      const copy = answer.slice();
      cables.world.trace.note(cables.world.nowMs, `${process.name}>${from} answers ${copy.length}`);
      cables.world.trace.bytes(copy);
      cables.carry(process.name, from, () => reply(copy));
    });
  }
}
