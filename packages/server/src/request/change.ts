/**
 * What all changes that clients ask for have in common: a version of their own, a record to start from, and going again
 * where a newer version is met.
 */
import {
  CarillonError,
  type Clock,
  type NumberSource,
  State,
  type TimerId,
  type TimerRecord,
  type Version,
  type VersionClock,
} from '@carillon/core';
import { desiredReplicas } from '../cluster/desired.ts';
import type { ClientIds } from './client-ids.ts';
import type { View } from '../cluster/view.ts';
import type { Peers } from '../replication/peers.ts';
import { type ReadParts, readNewest } from '../replication/read.ts';
import type { Instant } from '../timer/schedule.ts';
import { type WriteParts, type WriteResult, write } from '../replication/write.ts';
import { confirmed, noCopies, type Written } from './outcome.ts';
import type { Numbered } from '../replication/wire.ts';

/** A client's request that meets a newer version goes again with a higher one; this often at most. */
export const triesMax = 8;

/**
 * How far ahead of the own wall clock a client may move versions: further than any two clocks of a cluster should be apart, and
 * not so far that a client could use versions up.
 */
const aheadMsMax = 86_400_000;

export interface WritingParts extends ReadParts, WriteParts {
  readonly self: string;
  readonly clock: Clock;
  readonly peers: Peers | null;
  readonly view: () => View;
  readonly versions: VersionClock;
  readonly numbers: Pick<NumberSource, 'next'>;
  readonly ids: ClientIds;
  readonly instant: () => Instant;
}

/** What every record of a client's request starts from. */
export interface Base {
  readonly namespace: string;
  readonly factor: number;
  readonly number: Numbered;
  readonly version: Version;
  readonly at: Instant;
}

/** When a record pops first, and what it carries. */
export interface Content {
  readonly dueMs: number;
  readonly gapMs: number;
  readonly body: Uint8Array;
}

const noBody = new Uint8Array(0);

export class Writing {
  private readonly parts: WritingParts;

  constructor(parts: WritingParts) {
    this.parts = parts;
  }

  /** Writes a record for a client: where a newer version is met, again with a version above it. */
  write(record: (version: Version) => TimerRecord, id: TimerId): Promise<Written> {
    return new Promise((done, failed) => this.tryWrite({ record, id }, triesMax, done, failed));
  }

  /** The same without a promise. Throws what `record` throws. */
  tryWrite(
    asked: { readonly record: (version: Version) => TimerRecord; readonly id: TimerId },
    tries: number,
    done: (written: Written) => void,
    failed: (error: unknown) => void,
  ): void {
    const { instant, versions, view } = this.parts;
    const { bloomHi, bloomLo } = asked.id;
    const former = view().heldBy({ hi: bloomHi, lo: bloomLo });
    const record = asked.record(this.stamp(instant()));
    write(this.parts, { record, mode: 'any', former }, (result) => {
      try {
        if (result.type !== 'have') return done(confirmed(result));
        if (tries <= 1) return failed(noCopies(result.progress));
        versions.observe(result.progress);
        this.tryWrite(asked, tries - 1, done, failed);
      } catch (error) {
        failed(error);
      }
    });
  }

  once(
    record: TimerRecord,
    mode: 'any' | 'create',
    former: readonly string[],
  ): Promise<WriteResult> {
    return new Promise((resolve) => write(this.parts, { record, mode, former }, resolve));
  }

  /** Every later stamp is higher than what a client has seen. Throws CarillonError. */
  saw(seen: Version): void {
    const { versions, clock } = this.parts;
    // A version that the clock has reached moves nothing, however far ahead it is.
    if (seen.versionMs > clock.wall() + aheadMsMax && !versions.isPast(seen)) {
      throw new CarillonError(
        'bad_request',
        'Carillon-Seen is more than a day ahead of the clock of this member; leave it out, or mend the clock.',
      );
    }
    versions.observe(seen);
  }

  stamp({ wallMs }: Instant): Version {
    const { versions, view, self } = this.parts;
    // By the cluster's clock, not the member's own: in a net-split versions are all there is to order requests by.
    return versions.stamp(Math.floor(wallMs), view().numberOf(self));
  }

  /** Of a new timer. What its clients see is made first: members keep it under a number that no other namespace foresees. */
  newNumber(namespace: string): Numbered {
    const { numbers, ids, clock, view, self } = this.parts;
    return ids.number(namespace, numbers.next(clock.wall(), view().numberOf(self)));
  }

  /** A live record; without a content it is due at once. */
  draft(base: Base, content?: Content): TimerRecord {
    const { view, peers } = this.parts;
    const { namespace, factor, number, version } = base;
    const { hi, lo } = number;
    const { nowMs } = base.at;
    const dueMs = content?.dueMs ?? nowMs;
    const silent = (name: string): boolean => peers?.silent(name) ?? false;
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
      replicas: desiredReplicas(view(), number, factor, silent),
      body: content?.body ?? noBody,
    };
  }

  read(id: TimerId): Promise<TimerRecord | null> {
    const { view } = this.parts;
    const names = new Set([
      ...view().place(id.hi, id.lo, id.factor),
      ...view().heldBy({ hi: id.bloomHi, lo: id.bloomLo }),
    ]);
    return readNewest(this.parts, id, [...names]);
  }
}
