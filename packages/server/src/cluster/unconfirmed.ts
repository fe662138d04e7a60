/**
 * Records that peers did not confirm, by peer. Sent again when the peer answers, in bounded batches; beyond a bound
 * only the fact is kept, and the two members compare everything instead.
 *
 * A peer that answers other messages and not these gets them again after 1, 2, 4, 5, 5 … s: a frame that was lost on
 * the way is given up after 5 s, and meanwhile the peer would pop timers that were cancelled. A peer that has something
 * newer is asked for it.
 */
import { type Cancel, type Clock, hex16, invariant } from '@carillon/core';
import type { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import type { UnconfirmedNews } from '../replication/write.ts';
import { recordBytes, repairBytesMax } from '../replication/sizes.ts';
import type { Answer } from '../replication/wire/answer.ts';
import type { Numbered } from '../replication/wire/parts.ts';

const perPeerMax = 100_000;
const batchMax = 500;
const againMs = 1000;
const againMsMax = 5000;

interface Backlog {
  /** A record that changes while it is on its way is entered anew. */
  readonly numbers: Map<string, Numbered>;
  pushing: boolean;
  lastBatch: number;
  /** Until the next batch, where no record of this one is confirmed. */
  waitMs: number;
  cancelAgain: Cancel;
}

export interface UnconfirmedParts {
  readonly clock: Clock;
  readonly replica: Replica;
  readonly peers: Peers;
  /** Too much to remember: compare everything with this peer when it is back. */
  readonly onOverflow: (name: string) => void;
  readonly onSent: () => void;
}

/** The answer to a `store`, as the metrics count it. */
export function copyResult(answer: Answer | null): 'stored' | 'kept' | 'refused' | 'unanswered' {
  if (answer?.type === 'stored' || answer?.type === 'refused') return answer.type;
  return answer?.type === 'have' ? 'kept' : 'unanswered';
}

/**
 * Whether the two members are done with this record. A peer without room on its disk is told again, and one with
 * something newer is asked for it.
 */
export function isTold(answer: Answer | null): boolean {
  if (answer === null || answer.type === 'have') return false;
  return !(answer.type === 'refused' && answer.why === 'full');
}

export class Unconfirmed {
  private readonly parts: UnconfirmedParts;
  private readonly byPeer = new Map<string, Backlog>();

  constructor(parts: UnconfirmedParts) {
    this.parts = parts;
  }

  /** Records that peers have yet to be told of. */
  get size(): number {
    let size = 0;
    for (const { numbers } of this.byPeer.values()) size += numbers.size;
    return size;
  }

  add(name: string, { hi, lo }: Numbered): void {
    const { numbers } = this.backlog(name);
    if (numbers.size >= perPeerMax) {
      numbers.clear();
      this.parts.onOverflow(name);
    }
    numbers.set(hex16(hi, lo), { hi, lo });
  }

  retain(names: ReadonlySet<string>): void {
    for (const [name, backlog] of this.byPeer) {
      if (names.has(name)) continue;
      backlog.cancelAgain();
      this.byPeer.delete(name);
    }
  }

  stop(): void {
    this.retain(new Set());
  }

  /** Sends the unconfirmed records to every peer that answers. */
  pushAll(): void {
    for (const name of this.byPeer.keys()) if (!this.parts.peers.silent(name)) this.push(name);
  }

  push(name: string): void {
    const backlog = this.backlog(name);
    invariant(backlog.numbers.size <= perPeerMax, 'the unconfirmed records of a peer are bounded');
    if (backlog.pushing) return;
    backlog.cancelAgain();
    if (backlog.numbers.size === 0) return;
    backlog.pushing = true;
    this.pushAgainLater(name, backlog);
    const batch = ++backlog.lastBatch;
    let told = 0;
    // One for the loop itself: it is not over before the last was sent.
    let left = 1;
    const settled = (ok: boolean): void => {
      invariant(left > 0, 'a peer is told of a record once in a batch');
      if (ok) told++;
      if (--left > 0 || batch !== backlog.lastBatch) return;
      backlog.pushing = false;
      if (told === 0) return;
      backlog.waitMs = againMs;
      this.push(name);
    };
    let count = 0;
    let bytes = 0;
    for (const [key, number] of backlog.numbers) {
      if (count++ === batchMax || bytes >= repairBytesMax) break;
      left++;
      bytes += this.pushOne(name, number, (ok) => {
        if (ok && backlog.numbers.get(key) === number) backlog.numbers.delete(key);
        settled(ok);
      });
    }
    settled(false);
  }

  /**
   * Waits no longer for the answers of this batch then, unless the peer stands still: it has the batch in its socket,
   * and more would only make it later.
   */
  private pushAgainLater(name: string, backlog: Backlog): void {
    const { clock, peers } = this.parts;
    const sentMs = clock.now();
    backlog.cancelAgain = clock.at(sentMs + backlog.waitMs, () => {
      if (!peers.answeredSince(name, sentMs)) return this.pushAgainLater(name, backlog);
      backlog.waitMs = Math.min(2 * backlog.waitMs, againMsMax);
      backlog.pushing = false;
      if (!peers.silent(name)) this.push(name);
    });
  }

  /** How many bytes are under way for it. */
  private pushOne(name: string, { hi, lo }: Numbered, done: (ok: boolean) => void): number {
    const { replica, peers, onSent } = this.parts;
    const record = replica.get(hi, lo);
    if (record === undefined) {
      done(true);
      return 0;
    }
    onSent();
    peers.send(name, { type: 'store', mode: 'any', record }, (answer) => {
      if (answer?.type === 'have') this.fetch(name, record, done);
      else done(isTold(answer));
    });
    return recordBytes(record);
  }

  /** The peer has a newer record, and may not know that this member lacks it. */
  private fetch(name: string, { hi, lo }: Numbered, done: (ok: boolean) => void): void {
    const { replica, peers } = this.parts;
    peers.send(name, { type: 'read', hi, lo }, (answer) => {
      if (answer?.type !== 'record') return done(false);
      if (answer.record === null) return done(true);
      replica.receive(answer.record, 'any', () => done(true));
    });
  }

  private backlog(name: string): Backlog {
    let backlog = this.byPeer.get(name);
    if (backlog === undefined) {
      backlog = {
        numbers: new Map(),
        pushing: false,
        lastBatch: 0,
        waitMs: againMs,
        cancelAgain: () => {},
      };
      this.byPeer.set(name, backlog);
    }
    return backlog;
  }
}

/** Each takes a second at most; a comparison of two members finds a record that even these could not tell of. */
const tellsMax = 30;

/** Asks a holder to bring the record to the members that have not confirmed it, until one has heard. */
export function tellUnconfirmed(peers: Peers, news: UnconfirmedNews, tells = tellsMax): void {
  const { number, names, holders } = news;
  const { hi, lo } = number;
  const holder = holders[tells % holders.length];
  if (holder === undefined || tells === 0) return;
  peers.send(holder, { type: 'unconfirmed', hi, lo, names }, (answer) => {
    if (answer === null) tellUnconfirmed(peers, news, tells - 1);
  });
}
