/**
 * One hash per peer and range over the records that both this member and the peer should hold. Kept up to
 * date as records change, so that comparing two members costs nothing while they agree.
 *
 * Live timers and dead letters count; tombstones do not, because two members may forget them at different
 * times. A difference because of a tombstone shows as a live record on the other side.
 */
import { State, type TimerRecord } from '@carillon/core';
import { hashNumber } from '@carillon/placement';
import { rangeCount } from '../store/number-index.ts';

export class Digests {
  private readonly self: string;
  private readonly rangeOf: (hi: number, lo: number) => number;
  private readonly byPeer = new Map<string, Uint32Array>();

  constructor(self: string, rangeOf: (hi: number, lo: number) => number) {
    this.self = self;
    this.rangeOf = rangeOf;
  }

  /** The hashes shared with one peer; all zero when nothing is. */
  of(peer: string): Uint32Array {
    let hashes = this.byPeer.get(peer);
    if (hashes === undefined) {
      hashes = new Uint32Array(rangeCount);
      this.byPeer.set(peer, hashes);
    }
    return hashes;
  }

  /** Adds a record, or takes it out again: the same operation. */
  toggle(record: Omit<TimerRecord, 'body'>): void {
    if (!this.counts(record)) return;
    const range = this.rangeOf(record.hi, record.lo);
    const hash = hashOf(record);
    for (const name of record.replicas) {
      if (name === this.self) continue;
      const hashes = this.of(name);
      hashes[range] = (hashes[range] as number) ^ hash;
    }
  }

  /** Whether this member and `peer` should both hold the record. */
  shared(record: Pick<TimerRecord, 'state' | 'replicas'>, peer: string): boolean {
    return this.counts(record) && record.replicas.includes(peer);
  }

  private counts(record: Pick<TimerRecord, 'state' | 'replicas'>): boolean {
    if (record.state === State.tombstone || record.replicas.length < 2) return false;
    return record.replicas.includes(this.self);
  }
}

function hashOf(record: Omit<TimerRecord, 'body'>): number {
  const version = hashNumber(
    Math.floor(record.versionMs / 2 ** 20) >>> 0,
    (record.versionMs % 2 ** 20) ^ record.versionTie,
    record.state,
  );
  const progress = hashNumber(record.sequence, record.attempt, version);
  return hashNumber(record.hi, record.lo, progress);
}
