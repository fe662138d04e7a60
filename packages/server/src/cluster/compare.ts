/**
 * Two members compare what both should hold and exchange what differs: first one hash a range, then lists of
 * the ranges that differ, then records. While they agree it costs one small message.
 */
import { compareProgress, hex16, type TimerRecord } from '@carillon/core';
import type { Digests } from '../replication/digests.ts';
import type { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import type { Answer, Entry, Numbered } from '../replication/wire.ts';

/** One answer carries at most this many records; another round brings the rest. */
const recordsPerAnswerMax = 1000;

export interface CompareParts {
  readonly replica: Replica;
  readonly peers: Peers;
  readonly digests: Digests;
  readonly onSent: () => void;
  readonly onReceived: () => void;
}

export class Compare {
  private readonly parts: CompareParts;
  private readonly running = new Set<string>();

  constructor(parts: CompareParts) {
    this.parts = parts;
  }

  start(name: string): void {
    if (this.running.has(name)) return;
    this.running.add(name);
    const { peers, digests } = this.parts;
    peers.send(name, { type: 'digest', hashes: digests.of(name).slice() }, (answer) => {
      if (answer?.type === 'ranges') this.ranges(name, answer.ranges);
      else this.running.delete(name);
    });
  }

  /** A peer's hashes: which ranges differ from ours. */
  digest(from: string, hashes: Uint32Array): Answer {
    const own = this.parts.digests.of(from);
    const ranges: number[] = [];
    for (let i = 0; i < own.length; i++) if (own[i] !== hashes[i]) ranges.push(i);
    return { type: 'ranges', ranges };
  }

  /** A peer's list of one range: what we have newer, and of what we want its record. */
  range(from: string, range: number, entries: readonly Entry[]): Answer {
    const { replica } = this.parts;
    const newer: TimerRecord[] = [];
    const want: Numbered[] = [];
    const listed = new Set<string>();
    for (const entry of entries) {
      listed.add(hex16(entry.hi, entry.lo));
      const stored = replica.get(entry.hi, entry.lo);
      const order = stored === undefined ? -1 : compareProgress(stored, entry);
      if (order < 0 || stored === undefined) want.push({ hi: entry.hi, lo: entry.lo });
      else if (order > 0) newer.push(stored);
    }
    for (const record of this.shared(from, range)) {
      if (newer.length >= recordsPerAnswerMax) break;
      if (!listed.has(hex16(record.hi, record.lo))) newer.push(record);
    }
    return { type: 'difference', newer: newer.slice(0, recordsPerAnswerMax), want };
  }

  /** One range after the other; what remains different is found by the next comparison. */
  private ranges(name: string, ranges: readonly number[]): void {
    const [range, ...rest] = ranges;
    if (range === undefined) {
      this.running.delete(name);
      return;
    }
    const entries = this.shared(name, range).map(entryOf);
    this.parts.peers.send(name, { type: 'range', range, entries }, (answer) => {
      if (answer?.type !== 'difference') {
        this.running.delete(name);
        return;
      }
      this.exchange(name, answer.newer, answer.want);
      this.ranges(name, rest);
    });
  }

  private exchange(name: string, newer: readonly TimerRecord[], want: readonly Numbered[]): void {
    const { replica, peers, onSent, onReceived } = this.parts;
    for (const record of newer) {
      onReceived();
      replica.receive(record, 'any', ignore);
    }
    for (const { hi, lo } of want) {
      const record = replica.get(hi, lo);
      if (record === undefined) continue;
      onSent();
      peers.send(name, { type: 'store', mode: 'any', record }, ignore);
    }
  }

  private shared(name: string, range: number): TimerRecord[] {
    const { replica, digests } = this.parts;
    const records: TimerRecord[] = [];
    replica.store.walk(range, (handle) => {
      if (!replica.store.replicasOf(handle).includes(name)) return;
      const record = replica.store.read(handle);
      if (digests.shared(record, name) && !replica.isDoubtful(handle)) records.push(record);
    });
    return records;
  }
}

function entryOf({ hi, lo, versionMs, versionTie, state, sequence, attempt }: TimerRecord): Entry {
  return { hi, lo, versionMs, versionTie, state, sequence, attempt };
}

function ignore(): void {}
