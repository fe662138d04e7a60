/**
 * A local picture of everything under one prefix in etcd: a linearizable read at revision R, then a watch from R + 1.
 * Membership and slots read it and are told of each change. Neighbours: `etcd.ts` below, `membership.ts` and
 * `slots.ts` above.
 *
 * M1  `entries` is exactly the content of etcd under the prefix at `revision`, some moment in the past.
 * M2  `revision` never goes back; changes are told in its order. Changes between two reads of a broken watch are told
 *     as one batch of the differences.
 * M3  A cut watch is opened again from the next revision; a compacted one starts with a new read.
 * M4  Every minute the whole is read again and compared, should a watch ever be wrong.
 */
import type { Cancel, Clock, Log, Random } from '@carillon/core';
import {
  type Change,
  type Etcd,
  type EtcdError,
  etcdErrorKind,
  type KeyValue,
} from './etcd/etcd.ts';

export interface MirrorOptions {
  readonly etcd: Etcd;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly prefix: string;
}

const readLimitMs = 2000;
/** The first read may fall into an election of etcd, and there is no older picture to live on. */
const firstReadLimitMs = 10_000;
const retryMsMin = 30;
const retryMsMax = 400;
const rereadMs = 60_000;

export type MirrorListener = (changes: readonly Change[]) => void;

export class Mirror {
  readonly prefix: string;
  readonly entries = new Map<string, KeyValue>();
  private readonly options: MirrorOptions;
  private readonly listeners = new Set<MirrorListener>();
  private readonly readListeners = new Set<() => void>();
  private revisionSeen = 0;
  private watching = false;
  private failures = 0;
  private closed = false;
  private cancelWatch: Cancel = () => {};
  private cancelRetry: Cancel = () => {};
  private cancelReread: Cancel = () => {};

  constructor(options: MirrorOptions) {
    this.options = options;
    this.prefix = options.prefix;
  }

  get revision(): number {
    return this.revisionSeen;
  }

  /** True while the watch stands: changes arrive as they happen. */
  get connected(): boolean {
    return this.watching;
  }

  /** Resolves once the first picture is there. Rejects when etcd cannot be read. */
  async start(): Promise<void> {
    await this.read(firstReadLimitMs);
    this.openWatch();
    this.armReread();
  }

  onChange(listener: MirrorListener): Cancel {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Told after a full read. A listener that already knows newer records, from the answers to its own transactions,
   * must compare with the whole picture: a record that came and went between two reads is in no list of changes.
   */
  onRead(listener: () => void): Cancel {
    this.readListeners.add(listener);
    return () => this.readListeners.delete(listener);
  }

  /** Reads everything again now: afterwards the picture is at least as new as the call. */
  async read(limitMs = readLimitMs): Promise<void> {
    const { etcd, prefix } = this.options;
    const { revision, entries } = await etcd.range(prefix, limitMs);
    if (this.closed || revision < this.revisionSeen) return;
    const changes = difference(this.entries, entries, revision);
    if (this.watching && revision === this.revisionSeen && changes.length > 0) {
      this.options.log.error('A watch on etcd missed changes; a full read has brought them.', {
        event: 'ring-watch-incomplete',
        prefix,
        changes: changes.length,
      });
    }
    this.apply(revision, changes);
    for (const listener of this.readListeners) listener();
  }

  close(): void {
    this.closed = true;
    this.watching = false;
    this.cancelWatch();
    this.cancelRetry();
    this.cancelReread();
    this.listeners.clear();
    this.readListeners.clear();
  }

  private openWatch(): void {
    const { etcd, prefix } = this.options;
    this.cancelWatch = etcd.watch(prefix, this.revisionSeen + 1, {
      onOpen: () => {
        this.watching = true;
        this.failures = 0;
      },
      onChanges: (revision, changes) => {
        // Changes that a read already showed are not told again.
        const news = changes.filter((change) => revisionOf(change) > this.revisionSeen);
        this.apply(Math.max(revision, this.revisionSeen), news);
      },
      onEnd: (error) => this.onWatchEnd(error),
    });
  }

  private onWatchEnd(error: EtcdError): void {
    this.watching = false;
    if (this.closed) return;
    const readFirst = error.kind !== 'no-answer' && error.kind !== 'not-sent';
    this.options.log.debug('A watch on etcd ended.', {
      event: 'ring-watch-ended',
      prefix: this.prefix,
      reason: error.message,
    });
    // A compacted watch is not a failure of etcd: read at once. A broken one gets a short pause.
    if (readFirst && this.failures === 0) {
      this.failures++;
      this.recover(true).catch(this.failed);
    } else this.retry(readFirst);
  }

  private retry(readFirst: boolean): void {
    const { clock, random } = this.options;
    const waitMs = Math.min(retryMsMax, retryMsMin * 2 ** Math.min(this.failures++, 8));
    this.cancelRetry = clock.at(clock.now() + waitMs * (0.5 + random.unit() / 2), () => {
      this.recover(readFirst).catch(this.failed);
    });
  }

  private readonly failed = (error: unknown): void => {
    this.options.log.error('A ring could not read etcd.', {
      event: 'ring-read-failed',
      reason: String(error),
    });
  };

  private async recover(readFirst: boolean): Promise<void> {
    try {
      if (readFirst) await this.read();
      if (!this.closed) this.openWatch();
    } catch (error) {
      this.options.log.debug('A ring cannot read etcd now.', {
        event: 'ring-read-delayed',
        kind: etcdErrorKind(error),
      });
      if (!this.closed) this.retry(readFirst);
    }
  }

  private armReread(): void {
    const { clock, random, log } = this.options;
    this.cancelReread = clock.at(clock.now() + rereadMs * (0.75 + random.unit() / 2), () => {
      this.armReread();
      this.read().catch((error: unknown) => {
        log.debug('The periodic read of a ring failed.', {
          event: 'ring-periodic-read-failed',
          kind: etcdErrorKind(error),
        });
      });
    });
  }

  private apply(revision: number, changes: readonly Change[]): void {
    this.revisionSeen = revision;
    for (const change of changes) {
      if (change.kind === 'put') this.entries.set(change.entry.key, change.entry);
      else this.entries.delete(change.key);
    }
    if (changes.length === 0) return;
    for (const listener of this.listeners) listener(changes);
  }
}

function revisionOf(change: Change): number {
  return change.kind === 'put' ? change.entry.modRevision : change.revision;
}

/** The changes that turn `before` into `after`, deletions first. */
function difference(
  before: ReadonlyMap<string, KeyValue>,
  after: readonly KeyValue[],
  revision: number,
): Change[] {
  const changes: Change[] = [];
  const keys = new Set(after.map((entry) => entry.key));
  for (const key of before.keys()) {
    if (!keys.has(key)) changes.push({ kind: 'delete', key, revision });
  }
  for (const entry of after) {
    if (before.get(entry.key)?.modRevision !== entry.modRevision) {
      changes.push({ kind: 'put', entry });
    }
  }
  return changes;
}
