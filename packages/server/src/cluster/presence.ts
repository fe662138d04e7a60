/**
 * The members that answer right now. Says hello to every other member of the view once a second and remembers the
 * answer: whether the member has restarted, whether it is leaving, how far its clock is off.
 */
import type { Cancel, Clock, Random } from '@carillon/core';
import type { Peers } from '../replication/peers.ts';
import type { Hello } from '../replication/wire/hello.ts';
import type { Message } from '../replication/wire/message.ts';
import { ClockOffset } from './clock-offset.ts';

const helloMs = 1000;
/**
 * A hello that failed within this time was refused: no process is there. One that failed later may have met a slow
 * member.
 */
const refusedMs = 500;
/** So many hellos go to a member that is slow to answer after the start: a first connection takes it several turns. */
const firstHellos = 3;
/** How long the clock of a member that vanished from the view is counted. */
const clockMs = 3_600_000;

export interface PresenceParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly peers: Peers;
  readonly others: () => readonly string[];
  readonly hello: () => Hello;
  /** A peer silent for this long gets stand-ins. */
  readonly absentMs: number;
  /** Another set of members is absent, or leaving. */
  readonly onChange: () => void;
  /** The peer was heard for the first time. */
  readonly onMet: (name: string) => void;
  /** The peer runs anew: messages to its process of before may be lost. */
  readonly onRestart: (name: string) => void;
  /** No other member was heard since then; now one is that ran on meanwhile, and may have gone on without this one. */
  readonly onReunited: (aloneSinceMs: number) => void;
}

export interface PeerClock {
  readonly offset: ClockOffset;
  /** When its member was last in the view. */
  inViewMs: number;
}

export class Presence {
  private readonly parts: PresenceParts;
  private readonly seen = new Map<string, Hello>();
  /** Also of members that vanished: both sides of a split must go by the same clocks, though their views differ. */
  private readonly clocks = new Map<string, PeerClock>();
  private medianMs = 0;
  private absentNames: ReadonlySet<string> = new Set();
  /** Since when no other member has answered, as of the last round; null: one did. */
  private aloneSinceMs: number | null = null;
  private cancel: Cancel | null = null;
  /**
   * Members that have neither answered since the start nor been found gone, and how many more hellos they may leave
   * unanswered.
   */
  private readonly strangers = new Map<string, number>();

  constructor(parts: PresenceParts) {
    this.parts = parts;
  }

  start(): void {
    for (const name of this.parts.others()) this.strangers.set(name, firstHellos);
    this.round();
  }

  /**
   * Whether every member that was there at the start has been heard, or is gone, or leaves hello after hello
   * unanswered.
   */
  get acquainted(): boolean {
    return this.strangers.size === 0;
  }

  /** At once, and not only when the next round is due. */
  sayHello(): void {
    this.cancel?.();
    this.round();
  }

  stop(): void {
    this.cancel?.();
    this.cancel = null;
  }

  lastHello(name: string): Hello | null {
    return this.seen.get(name) ?? null;
  }

  offsetMs(name: string): number | null {
    return this.seen.has(name) ? (this.clocks.get(name)?.offset.ms ?? 0) : null;
  }

  /** Whether a member that answers goes by another view than this. */
  differs(viewId: string): boolean {
    for (const [name, hello] of this.seen) {
      if (hello.viewId !== viewId && !this.parts.peers.silent(name)) return true;
    }
    return false;
  }

  /** Whether all other members that answer go by this view, and at least one does. */
  agrees(viewId: string): boolean {
    const { peers, others } = this.parts;
    const answering = others().filter((name) => !peers.silent(name));
    const isSame = (name: string): boolean => this.seen.get(name)?.viewId === viewId;
    return answering.length > 0 && answering.every(isSame);
  }

  /** Whether a member that answers has records on their way to others. */
  get othersMove(): boolean {
    for (const [name, hello] of this.seen) {
      if (hello.moving && !this.parts.peers.silent(name)) return true;
    }
    return false;
  }

  absent(name: string): boolean {
    return this.absentNames.has(name);
  }

  leaving(name: string): boolean {
    return this.seen.get(name)?.leaving ?? false;
  }

  /** Whether its disk had no room for new records when it was last heard. */
  full(name: string): boolean {
    return this.seen.get(name)?.full ?? false;
  }

  /** The median offset of all wall clocks of the cluster from this member's, its own included. */
  medianOffsetMs(): number {
    return this.medianMs;
  }

  /** Kept, because every request and every pop asks for it. */
  private updateMedian(): void {
    const offsets = [0, ...Array.from(this.clocks.values(), ({ offset }) => offset.ms)];
    offsets.sort((a, b) => a - b);
    this.medianMs = offsets[Math.floor((offsets.length - 1) / 2)] ?? 0;
  }

  /** A peer's hello, or its answer to ours. */
  heard(name: string, hello: Hello): void {
    const before = this.seen.get(name);
    this.seen.set(name, hello);
    if (before !== undefined && before.boot !== hello.boot) this.parts.onRestart(name);
    else if (before !== undefined && this.aloneSinceMs !== null) {
      this.parts.onReunited(this.aloneSinceMs);
      this.aloneSinceMs = null;
    }
    if (before === undefined) this.parts.onMet(name);
    if ((before?.leaving ?? false) !== hello.leaving) this.parts.onChange();
  }

  private round(): void {
    const { clock, random, peers, others, hello } = this.parts;
    const names = others();
    this.forgetAbsent(names);
    this.noteAlone(names);
    const message: Message = { type: 'hello', hello: hello() };
    for (const name of names) {
      const sentMs = clock.now();
      const sentWallMs = clock.wall();
      peers.send(name, message, (answer) => {
        if (answer?.type !== 'hello') {
          this.unanswered(name, clock.now() - sentMs < refusedMs);
          return;
        }
        this.strangers.delete(name);
        this.heard(name, answer.hello);
        const exchange = { sentWallMs, roundTripMs: clock.now() - sentMs };
        this.measured(name, { ...exchange, peerWallMs: answer.hello.wallMs });
      });
    }
    this.noteAbsent(names);
    this.cancel = clock.at(clock.now() + helloMs * (0.9 + 0.2 * random.unit()), () => this.round());
  }

  private unanswered(name: string, isGone: boolean): void {
    const left = (this.strangers.get(name) ?? 0) - 1;
    if (isGone || left <= 0) this.strangers.delete(name);
    else this.strangers.set(name, left);
  }

  private measured(name: string, exchange: Parameters<ClockOffset['add']>[0]): void {
    const inViewMs = this.parts.clock.now();
    const known = this.clocks.get(name) ?? { offset: new ClockOffset(), inViewMs };
    const beforeMs = known.offset.ms;
    known.offset.add(exchange);
    if (this.clocks.has(name) && known.offset.ms === beforeMs) return;
    this.clocks.set(name, known);
    this.updateMedian();
  }

  /**
   * Members that said they leave are forgotten with their clocks; vanished ones may be on the other side of a split.
   */
  private forgetAbsent(names: readonly string[]): void {
    const nowMs = this.parts.clock.now();
    const { size } = this.clocks;
    for (const [name, known] of this.clocks) {
      if (names.includes(name)) known.inViewMs = nowMs;
      else if (this.leaving(name) || nowMs - known.inViewMs > clockMs) this.clocks.delete(name);
    }
    if (this.clocks.size < size) this.updateMedian();
    for (const name of this.seen.keys()) if (!names.includes(name)) this.seen.delete(name);
  }

  private noteAlone(names: readonly string[]): void {
    const { peers } = this.parts;
    const isAlone = names.length > 0 && names.every((name) => peers.silent(name));
    this.aloneSinceMs = isAlone
      ? Math.max(...names.map((name) => peers.silentSinceMs(name) ?? 0))
      : null;
  }

  private noteAbsent(names: readonly string[]): void {
    const { clock, peers, absentMs } = this.parts;
    const nowMs = clock.now();
    const absent = names.filter((name) => {
      const sinceMs = peers.silentSinceMs(name);
      return sinceMs !== null && nowMs - sinceMs >= absentMs;
    });
    const same =
      absent.length === this.absentNames.size && absent.every((name) => this.absent(name));
    if (same) return;
    this.absentNames = new Set(absent);
    this.parts.onChange();
  }
}
