/**
 * The part that all changes share: one door to a write, a version of their own, a record to start from, and another try
 * where a newer version is met.
 *
 * Example: a client replaces timer 17. This member stamps the change 1000.5 and writes it; a replica answers that it
 * holds 1003.2, from a member whose clock is ahead. The change is stamped again, now above 1003.2, and goes to all
 * replicas and to the members that the id names as former ones. With 8 tries in vain the client is told that no copy
 * was confirmed.
 */
import {
  type Clock,
  type NumberSource,
  State,
  type TimerId,
  type TimerRecord,
  type Version,
  type VersionClock,
} from '@carillon/core';
import { desiredReplicas } from '../cluster/view/desired.ts';
import type { ClientIds } from './client-ids.ts';
import { membersAsked } from './members-asked.ts';
import type { View } from '../cluster/view/view.ts';
import type { Peers } from '../replication/peers.ts';
import { type ReadParts, readNewest } from '../replication/read.ts';
import type { Instant } from '../timer/schedule.ts';
import { type WriteParts, type WriteRequest, write } from '../replication/write.ts';
import { ChangesUnderWay, isOvertaken, type Overtakable } from './under-way.ts';
import { noCopies, type Outcome, outcomeOf, written, type Written } from './outcome.ts';
import type { StoreMode } from '../replication/wire/message.ts';
import type { Numbered } from '../replication/wire/parts.ts';

/** A client's request that meets a newer version goes again with a higher one; this often at most. */
export const triesMax = 8;

export interface ChangeParts extends ReadParts, WriteParts {
  readonly self: string;
  readonly clock: Clock;
  readonly peers: Peers | null;
  readonly view: () => View;
  readonly versions: VersionClock;
  readonly numbers: Pick<NumberSource, 'next'>;
  readonly ids: ClientIds;
  readonly instant: () => Instant;
  /** Whether records may be with other members than the view says. */
  readonly isUnsettled: () => boolean;
}

/** A change of a timer, for a client. */
interface AskedChange {
  readonly record: (version: Version) => TimerRecord;
  readonly id: TimerId;
}

/** The beginning of every record of a client's request. */
export interface Base {
  readonly namespace: string;
  readonly factor: number;
  readonly number: Numbered;
  readonly version: Version;
  readonly at: Instant;
}

/** The first due time of a record, and its body. */
export interface Content {
  readonly dueMs: number;
  readonly gapMs: number;
  readonly body: Uint8Array;
}

const noBody = new Uint8Array(0);

export class RecordChanges {
  private readonly parts: ChangeParts;
  private readonly underWay = new ChangesUnderWay();

  constructor(parts: ChangeParts) {
    this.parts = parts;
  }

  /** The one door to a write. */
  write(request: WriteRequest, done: (outcome: Outcome) => void): void {
    write(this.parts, request, (result) => done(outcomeOf(result)));
  }

  /** The same as a promise. */
  tryWrite(request: WriteRequest): Promise<Outcome> {
    return new Promise((resolve) => this.write(request, resolve));
  }

  /** Changes a timer for a client: where a newer version is met, again with a version above it. */
  change(record: (version: Version) => TimerRecord, id: TimerId): Promise<Written> {
    return new Promise((done, failed) => this.tryChange({ record, id }, done, failed));
  }

  /** The same without a promise. Throws the errors of `record`. */
  tryChange(
    asked: AskedChange,
    done: (written: Written) => void,
    failed: (error: unknown) => void,
  ): void {
    const { underWay } = this;
    const change = underWay.begin(asked.id);
    const fails = (error: unknown): void => {
      underWay.end(change);
      failed(error);
    };
    const succeeds = (result: Written): void => {
      underWay.end(change);
      done(result);
    };
    try {
      this.make({ ...asked, change }, triesMax, succeeds, fails);
    } catch (error) {
      underWay.end(change);
      throw error;
    }
  }

  private make(
    asked: AskedChange & { readonly change: Overtakable },
    tries: number,
    done: (written: Written) => void,
    failed: (error: unknown) => void,
  ): void {
    const { instant, versions } = this.parts;
    const { change } = asked;
    const version = this.stamp(instant());
    const record = asked.record(version);
    this.underWay.stamped(change, version);
    const tried = (outcome: Outcome): void => {
      if (outcome.type !== 'beaten') return done(written(outcome));
      if (tries <= 1) throw noCopies(outcome.by);
      versions.observe(outcome.by);
      this.make(asked, tries - 1, done, failed);
    };
    const former = this.formerHolders(asked.id);
    const overtaken = (by: Version): boolean => isOvertaken(change, by);
    this.write({ record, mode: 'any', former, isOvertaken: overtaken }, guarded(tried, failed));
  }

  /** Gives a new record a place of its own: dead letters come this way. */
  keep(record: TimerRecord, done: (kept: boolean) => void, mode: StoreMode = 'any'): void {
    const placed = { ...record, replicas: this.place(record, record.factor) };
    this.write({ record: placed, mode, former: [] }, ({ type }) => done(type !== 'refused'));
  }

  /**
   * Members that may hold the timer from earlier: as its id says, and, where this member has a copy itself, as that one
   * says. This member may have stood in for a replica, which no id tells.
   */
  formerHolders({ hi, lo, bloomHi, bloomLo }: TimerId): readonly string[] {
    const { view, self, replica, peers } = this.parts;
    const named = view().heldBy({ hi: bloomHi, lo: bloomLo });
    const handle = peers === null ? -1 : replica.store.find(hi, lo);
    if (handle === -1) return named;
    return [...new Set([...named, self, ...replica.store.replicasOf(handle)])];
  }

  stamp({ wallMs }: Instant): Version {
    const { versions, view, self } = this.parts;
    // By the cluster's clock, not the member's own: in a net-split versions are all there is to order requests by.
    return versions.stamp(Math.floor(wallMs), view().numberOf(self));
  }

  /**
   * Of a new timer. The number that clients see is made first: members keep it under one that no other namespace
   * foresees.
   */
  newNumber(namespace: string): Numbered {
    const { numbers, ids, clock, view, self } = this.parts;
    return ids.number(namespace, numbers.next(clock.wall(), view().numberOf(self)));
  }

  /** A live record; without a content it is due at once. */
  draft(base: Base, content?: Content): TimerRecord {
    const { namespace, factor, number, version } = base;
    const { hi, lo } = number;
    const { nowMs } = base.at;
    const dueMs = content?.dueMs ?? nowMs;
    return {
      hi,
      lo,
      namespace,
      factor,
      versionMs: version.versionMs,
      versionTie: version.versionTie,
      state: State.live,
      sequence: 0,
      attempt: 0,
      startMs: nowMs,
      dueMs,
      gapMs: content?.gapMs ?? 0,
      retryMs: dueMs,
      triedMs: dueMs,
      outcome: 0,
      replicas: this.place(number, factor),
      body: content?.body ?? noBody,
    };
  }

  read(id: TimerId): Promise<TimerRecord | null> {
    return new Promise((resolve) => this.readThen(id, resolve));
  }

  /**
   * The same without a promise: sets under a key read first, and batches have hundreds of them. While records may be
   * anywhere, none is missing before all members were asked, and then its replicas again: they may have been asked
   * before it came, and its former holder after it had gone.
   */
  readThen(id: TimerId, done: (record: TimerRecord | null) => void): void {
    const { parts } = this;
    const again = (newest: TimerRecord | null): void => {
      if (newest !== null) done(newest);
      else readNewest(parts, id, this.usual(id), done);
    };
    readNewest(parts, id, this.usual(id), (newest, isUnsettled) => {
      if (newest !== null || !(isUnsettled || parts.isUnsettled())) done(newest);
      else readNewest(parts, id, membersAsked(parts), again);
    });
  }

  /** The replicas of a timer, and its former ones as the id says. */
  private usual(id: TimerId): readonly string[] {
    const placed = this.parts.view().place(id.hi, id.lo, id.factor);
    const former = this.formerHolders(id);
    return former.length === 0 ? placed : [...new Set([...placed, ...former])];
  }

  /** The replicas of a new record; behind them the next in rank, one for each replica that does not answer now. */
  private place(number: Numbered, factor: number): readonly string[] {
    const { view, peers } = this.parts;
    return desiredReplicas(view(), number, factor, (name) => peers?.silent(name) ?? false);
  }
}

/** `done`, with everything that it throws given to `failed`. */
export function guarded<T>(
  done: (value: T) => void,
  failed: (error: unknown) => void,
): (value: T) => void {
  return (value) => {
    try {
      done(value);
    } catch (error) {
      failed(error);
    }
  };
}
