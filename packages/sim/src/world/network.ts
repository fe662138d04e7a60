/**
 * The cables between members. A frame takes its time, and may be lost, late, doubled or overtaken; a pair of members
 * can be cut in one direction or both; an answer can get lost after the call acted. The fate of a frame is drawn when
 * it is sent; whether the way is open is looked at when it arrives. Between two members frames go one after the other,
 * each as long as its bytes take, and heavy ones beside the others; both share the cable. A frame beyond the limit is
 * not sent at all.
 */
import {
  type CallTerms,
  copyOf,
  type FrameAnswered,
  type FrameHandler,
  type Network,
} from '@carillon/core';
import type { SeededRandom } from '@carillon/core/testing';
import type { FaultLog } from './fault-log.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

/** A frame later than this counts as a fault: claims do not wait much longer for short intervals. */
const lateMs = 5;

/** From one member to another. */
interface Way {
  /** Names of the way in the trace, for calls and for answers: put together once, not for each frame. */
  readonly calls: string;
  readonly answers: string;
  /** Closed while this is above 0. */
  cuts: number;
  readonly light: Line;
  readonly heavy: Line;
}

/** One of the two connections. */
interface Line {
  /** When the last frame that keeps its place arrives. */
  arrivesMs: number;
  /** When the bytes that were sent so far have left. */
  busyUntilMs: number;
}

export class Cables {
  readonly world: World;
  readonly faults: FaultLog;
  private readonly random: SeededRandom;
  private readonly parties = new Map<string, Party>();
  private readonly ways = new Map<string, Map<string, Way>>();
  /** Each way, drawn evenly from half of this to all of it. */
  delayMs = 1;
  lossRatio = 0;
  duplicateRatio = 0;
  overtakeRatio = 0;
  /** This part of the frames takes up to `slowMs` longer. */
  slowRatio = 0;
  slowMs = 0;
  /** How fast bytes get from one member to another, each way. */
  bytesPerMs = Number.POSITIVE_INFINITY;
  /** Limit of a frame and of an answer, as in the real network. */
  frameBytesMax = 32 * 1024 * 1024;

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

  /** Drops all frames from `from` to `to` until the returned function is called. Cuts add up. */
  cut(from: string, to: string): () => void {
    const key = `${from}>${to}`;
    const way = this.way(from, to);
    way.cuts++;
    const { nowMs } = this.world;
    const ends = [from, to].map((name) => this.faults.begin(name, 'network', `cut ${key}`, nowMs));
    this.world.trace.note(nowMs, `cut ${key}`);
    return () => {
      way.cuts--;
      for (const end of ends) end(this.world.nowMs);
      this.world.trace.note(this.world.nowMs, `mended ${key}`);
    };
  }

  party(name: string): Party | undefined {
    return this.parties.get(name);
  }

  /** Brings a frame of so many bytes from one member to another, or loses it on the way. */
  carry(freight: Freight, arrive: () => void): void {
    const { random } = this;
    const { from, to } = freight;
    if (this.lossRatio > 0 && random.chance(this.lossRatio)) {
      this.fault(from, to, 'lost');
      return;
    }
    const twice = this.duplicateRatio > 0 && random.chance(this.duplicateRatio);
    if (twice) this.fault(from, to, 'doubled');
    for (let i = 0; i < (twice ? 2 : 1); i++) this.carryOnce(freight, arrive);
  }

  private carryOnce({ from, to, bytes, isHeavy }: Freight, arrive: () => void): void {
    const { random, world } = this;
    const way = this.way(from, to);
    const [line, other] = isHeavy ? [way.heavy, way.light] : [way.light, way.heavy];
    const share = other.busyUntilMs > world.nowMs ? 2 : 1;
    const leftMs = Math.max(world.nowMs, line.busyUntilMs) + (share * bytes) / this.bytesPerMs;
    line.busyUntilMs = leftMs;
    const slow =
      this.slowRatio > 0 && random.chance(this.slowRatio) ? random.unit() * this.slowMs : 0;
    const delayMs = this.delayMs * (0.5 + random.unit() / 2) + slow;
    const overtakes = this.overtakeRatio > 0 && random.chance(this.overtakeRatio);
    if (overtakes) this.fault(from, to, 'overtook');
    let atMs = leftMs + delayMs;
    if (!overtakes) {
      atMs = Math.max(atMs, line.arrivesMs);
      line.arrivesMs = atMs;
    }
    if (atMs - leftMs > lateMs) {
      const ends = [from, to].map((name) =>
        this.faults.begin(name, 'network', 'late', world.nowMs),
      );
      for (const end of ends) end(atMs);
    }
    world.at(atMs, () => {
      if (way.cuts === 0) arrive();
    });
  }

  way(from: string, to: string): Way {
    let ways = this.ways.get(from);
    if (ways === undefined) {
      ways = new Map();
      this.ways.set(from, ways);
    }
    let way = ways.get(to);
    if (way === undefined) {
      const calls = `${from}>${to}`;
      const idle = { arrivesMs: 0, busyUntilMs: 0 };
      way = {
        calls,
        answers: `${calls} answers`,
        cuts: 0,
        light: { ...idle },
        heavy: { ...idle },
      };
      ways.set(to, way);
    }
    return way;
  }

  private fault(from: string, to: string, what: string): void {
    const { nowMs } = this.world;
    for (const name of [from, to]) this.faults.note(name, 'network', what, nowMs);
  }
}

interface Freight {
  readonly from: string;
  readonly to: string;
  readonly bytes: number;
  readonly isHeavy: boolean;
}

interface Arrived {
  readonly frame: Uint8Array;
  readonly from: string;
  readonly isHeavy: boolean;
}

/** A call to a peer. */
interface Unanswered {
  readonly to: string;
  readonly dueMs: number;
  readonly finish: FrameAnswered;
}

class Party implements Network {
  private readonly cables: Cables;
  private readonly process: Process;
  private handler: FrameHandler | null = null;
  private readonly unanswered = new Set<Unanswered>();
  private closed = false;

  constructor(cables: Cables, process: Process) {
    this.cables = cables;
    this.process = process;
  }

  call(address: string, frame: Uint8Array, terms: CallTerms, done: FrameAnswered): void {
    const { process, cables } = this;
    const to = address.slice(0, address.indexOf(':'));
    if (this.closed || frame.length > cables.frameBytesMax) {
      process.soon(() => done(null));
      return;
    }
    let open = true;
    const dueMs = process.now() + terms.limitMs;
    const finish: FrameAnswered = (answer) => {
      if (!open) return;
      open = false;
      cancel();
      this.unanswered.delete(unanswered);
      done(answer);
    };
    // Frames that arrived while the process stood still are read before the limit counts.
    const cancel = process.at(dueMs, () => process.soon(() => this.giveUp(to)));
    const unanswered: Unanswered = { to, dueMs, finish };
    this.unanswered.add(unanswered);
    cables.world.trace.frame(cables.world.nowMs, cables.way(process.name, to).calls, frame);
    const reply: FrameAnswered = (answer) => process.arrive(() => finish(answer));
    const isHeavy = terms.isHeavy ?? false;
    const freight = { from: process.name, to, bytes: frame.length, isHeavy };
    // The caller may use the bytes again as soon as this returns.
    const arrived = { frame: copyOf(frame, 0, frame.length), from: process.name, isHeavy };
    cables.carry(freight, () => cables.party(to)?.take(arrived, reply));
  }

  listen(handler: FrameHandler): Promise<void> {
    this.handler = handler;
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.closed = true;
    this.handler = null;
    for (const { finish } of this.unanswered) finish(null);
    return Promise.resolve();
  }

  /** As in the real network, one alarm gives up all calls to a peer whose time is over by then. */
  private giveUp(peer: string): void {
    const nowMs = this.process.now();
    for (const { to, dueMs, finish } of this.unanswered) {
      if (to === peer && dueMs <= nowMs) finish(null);
    }
  }

  private take(arrived: Arrived, reply: FrameAnswered): void {
    const { cables, process } = this;
    const { from, isHeavy } = arrived;
    if (!process.alive) {
      // A machine whose process is dead refuses the connection; a machine that is gone says nothing.
      const freight = { from: process.name, to: from, bytes: 0, isHeavy };
      if (process.refuses) cables.carry(freight, () => reply(null));
      return;
    }
    process.arrive(() => this.handle(arrived, reply));
  }

  private handle({ frame, from, isHeavy }: Arrived, reply: FrameAnswered): void {
    const { cables, process } = this;
    this.handler?.(frame, (answer) => {
      if (this.closed || !process.alive || answer.length > cables.frameBytesMax) return;
      const { nowMs, trace } = cables.world;
      trace.frame(nowMs, cables.way(process.name, from).answers, answer);
      const freight = { from: process.name, to: from, bytes: answer.length, isHeavy };
      cables.carry(freight, () => reply(answer));
    });
  }
}
