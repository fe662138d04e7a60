/**
 * The history of a member: every attempt it made and every change it coordinated, in files of its folder, bounded in
 * age and bytes. Nothing waits for it: `note` writes into memory and returns. Memory goes to the files once a second or
 * with 256 KiB, and the files are synced every five seconds, so a power cut takes the last seconds of the history with
 * it, and a crash of the process up to one second.
 *
 * The history never stops a member. Where the disk is full or fails, entries are left out and counted, the oldest file
 * is removed to make room, and writing is tried again after a while.
 *
 * Example: 300 timers are cancelled at 12:00:00.000 by one request. 300 entries are encoded into one block of about
 * 10 KB; at 12:00:01.000 the block is appended to `history-0000000007`, at 12:00:06.000 it is synced.
 */
import type { Cancel, Clock, Disk, Log } from '@carillon/core';
import { asDiskError } from '../store/journal/disk-error.ts';
import { type Block, BlockWriter } from './block.ts';
import { Catalogue } from './catalogue.ts';
import { type Entry, type Notes, withoutAnswer } from './entry.ts';
import { type HistoryAsk, type HistoryRead, readBack } from './read.ts';
import { ErasedAnswers } from './erased.ts';
import { planRetention, type RetentionLimits } from './retention.ts';

export interface HistoryLimits extends RetentionLimits {
  /** A file with this much in it is complete. */
  readonly fileBytesMax: number;
}

export interface HistoryLogParts {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: HistoryLimits;
  /** The journal found the disk full: all room is for the journal. */
  readonly isDiskFull: () => boolean;
}

const flushMs = 1000;
const flushBytes = 256 * 1024;
const syncMs = 5000;
/** Entries that wait in memory; more are left out. */
const pendingBytesMax = 4 * 1024 * 1024;
/** After a full disk, and after one that failed. */
const pauseMs = 5000;
const failedPauseMs = 60_000;
const upkeepMs = 60_000;
/** A file is complete after this part of the time that entries are kept, so that they go in time. */
const ageRatio = 1 / 28;
/** A file with less than this part of a full one is continued after a restart. */
const littleRatio = 1 / 8;
const never = Number.NEGATIVE_INFINITY;
/** Readings that wait for one another; more are refused. */
const readingCountMax = 16;

export class HistoryLog implements Notes {
  private readonly parts: HistoryLogParts;
  private readonly catalogue: Catalogue;
  private readonly erased: ErasedAnswers;
  private writer = new BlockWriter();
  private sealed: Block[] = [];
  private sealedBytes = 0;
  private omittedCount = 0;
  private cutOffs: ReadonlyMap<string, number> = new Map();
  private cancelFlush: Cancel | null = null;
  private cancelSync: Cancel | null = null;
  private isFlushing = false;
  private pausedUntilMs = never;
  private upkeepAtMs = never;
  private isStarted = false;
  private isStopped = false;
  private readingCount = 0;
  private begin: () => void = () => undefined;
  private readonly begun = new Promise<void>((resolve) => {
    this.begin = resolve;
  });
  /** Appends, one after the other. */
  private writing: Promise<void> = this.begun;
  /** Readings and upkeep, one after the other. */
  private looking: Promise<unknown> = this.begun;

  constructor(parts: HistoryLogParts) {
    this.parts = parts;
    this.catalogue = new Catalogue(parts);
    this.erased = new ErasedAnswers(parts.disk);
  }

  /** Reads which files there are; before that, entries wait in memory. */
  async start(): Promise<void> {
    this.isStarted = true;
    try {
      await this.catalogue.find();
      await this.erased.read();
      this.plan();
    } catch (error) {
      this.pause(error);
    }
    this.begin();
  }

  /** Entries that were left out since the start. */
  get omitted(): number {
    return this.omittedCount;
  }

  /** Of all files. */
  get bytes(): number {
    return this.catalogue.bytes;
  }

  note(entry: Entry): void {
    const isFull = this.sealedBytes > pendingBytesMax;
    if (isFull || this.isStopped || this.isPaused()) {
      this.omittedCount++;
      return;
    }
    this.writer.add(entry);
    if (this.writer.isFull) this.seal();
    else if (this.cancelFlush !== null) return;
    this.flushLater();
  }

  private flushLater(): void {
    const { clock } = this.parts;
    if (this.isFlushing || this.isStopped) return;
    if (this.sealedBytes > flushBytes) this.flushNow();
    else this.cancelFlush ??= clock.at(clock.now() + flushMs, this.flushNow);
  }

  /** Most members never pause, and their entries need no look at the clock. */
  private isPaused(): boolean {
    return this.pausedUntilMs !== never && this.parts.clock.now() < this.pausedUntilMs;
  }

  /** null: too many others wait for an answer. */
  async read(ask: HistoryAsk): Promise<HistoryRead | null> {
    const { disk, clock, limits } = this.parts;
    if (this.readingCount >= readingCountMax) return null;
    this.readingCount++;
    try {
      await this.flush();
      const sinceMs = Math.max(ask.sinceMs, clock.wall() - limits.keepMs);
      const parts = {
        disk,
        clock,
        files: () => this.catalogue.files,
        cutOffs: () => this.cutOffs,
        erased: () => this.erased.all,
      };
      return await this.look(() => readBack(parts, { ...ask, sinceMs }));
    } finally {
      this.readingCount--;
    }
  }

  /**
   * Erases the stored answers of a namespace's receivers up to now: at once from everything that is read, soon from the
   * disk.
   */
  async erase(namespace: string): Promise<void> {
    const { clock } = this.parts;
    await this.erased.add(namespace, clock.wall() + 1);
    await this.flush();
    await this.inTurn(() => this.catalogue.close());
    this.upkeepAtMs = never;
    this.tend();
  }

  /** Lets old files go, when it is time. To be called now and then. */
  tend(): void {
    const { clock } = this.parts;
    if (this.isStopped || clock.now() < this.upkeepAtMs) return;
    this.upkeepAtMs = clock.now() + upkeepMs;
    this.look(() => this.upkeep()).catch((error: unknown) => this.warn('upkeep', error));
  }

  /** Writes all that waits, and the index of the open file. */
  async stop(): Promise<void> {
    this.cancelFlush?.();
    this.cancelSync?.();
    this.isStopped = true;
    if (!this.isStarted) return;
    await this.flush();
    await this.inTurn(() => this.catalogue.close());
    await this.looking.catch(() => undefined);
  }

  /** Resolves when every entry noted before is in its file, or left out. */
  flush(): Promise<void> {
    if (this.writer.entryCount > 0) this.seal();
    return this.inTurn(() => this.writeOut());
  }

  private readonly flushNow = (): void => {
    this.cancelFlush?.();
    this.cancelFlush = null;
    // Entries of the meantime make whole blocks of their own, not one block each.
    if (this.isFlushing) return;
    if (this.writer.entryCount > 0) this.seal();
    if (this.sealed.length === 0) return;
    this.isFlushing = true;
    const flushed = (): void => {
      this.isFlushing = false;
      if (this.sealed.length > 0 || this.writer.entryCount > 0) this.flushLater();
    };
    this.inTurn(() => this.writeOut()).then(flushed, flushed);
  };

  private seal(): void {
    const block = this.writer.take();
    this.sealed.push(block);
    this.sealedBytes += block.bytes.length;
  }

  private async writeOut(): Promise<void> {
    const { limits, isDiskFull } = this.parts;
    const { catalogue } = this;
    if (isDiskFull()) return this.makeRoom();
    const complete = { bytesMax: limits.fileBytesMax, ageMsMax: limits.keepMs * ageRatio };
    for (let block = this.sealed[0]; block !== undefined; block = this.sealed[0]) {
      if (catalogue.open !== null && catalogue.isComplete(catalogue.open, complete)) {
        await catalogue.close();
        this.upkeepAtMs = never;
      }
      const open =
        catalogue.open ??
        (await this.look(() => catalogue.begin(limits.fileBytesMax * littleRatio)));
      await catalogue.append(open, block);
      this.sealed.shift();
      this.sealedBytes -= block.bytes.length;
    }
    this.syncLater();
    this.tend();
  }

  private syncLater(): void {
    const { clock } = this.parts;
    if (this.isStopped) return;
    this.cancelSync ??= clock.at(clock.now() + syncMs, () => {
      this.cancelSync = null;
      this.inTurn(async () => this.catalogue.open?.handle.sync()).catch(() => undefined);
    });
  }

  /** One write after the other; an error pauses the history and is no error of the caller. */
  private inTurn(work: () => Promise<unknown>): Promise<void> {
    const done = this.writing.then(async () => {
      try {
        await work();
      } catch (error) {
        this.pause(error);
      }
    });
    this.writing = done;
    return done;
  }

  private look<T>(work: () => Promise<T>): Promise<T> {
    const done = this.looking.then(work, work);
    this.looking = done.catch(() => undefined);
    return done;
  }

  private pause(error: unknown): void {
    const { clock } = this.parts;
    const { kind } = asDiskError(error);
    this.warn('writing', error);
    this.catalogue.abandon();
    this.leaveOut(clock.now() + (kind === 'failed' ? failedPauseMs : pauseMs));
    if (kind === 'full') this.removeOldest();
  }

  private makeRoom(): void {
    this.leaveOut(this.parts.clock.now() + pauseMs);
    this.removeOldest();
  }

  private removeOldest(): void {
    const oldest = this.catalogue.files[0];
    if (oldest === undefined) return;
    this.look(() => this.catalogue.remove(oldest.number)).catch((error: unknown) =>
      this.warn('removing', error),
    );
  }

  private leaveOut(untilMs: number): void {
    for (const { tally } of this.sealed) this.omittedCount += tally.entryCount;
    this.sealed = [];
    this.sealedBytes = 0;
    this.pausedUntilMs = untilMs;
  }

  private async upkeep(): Promise<void> {
    const { remove, rewrite, erased } = this.plan();
    for (const number of remove) await this.catalogue.remove(number);
    if (rewrite !== null) {
      await this.catalogue.rewrite(rewrite, (entry) => this.kept(entry, rewrite));
      // The next file is written anew after readings that wait.
      this.upkeepAtMs = never;
      this.parts.clock.soon(() => this.tend());
    } else await this.erased.drop(erased);
    this.plan();
  }

  private kept(entry: Entry, file: number): Entry | null {
    if (file <= (this.cutOffs.get(entry.namespace) ?? -1)) return null;
    const beforeMs = this.erased.all.get(entry.namespace) ?? 0;
    return entry.wallMs < beforeMs ? withoutAnswer(entry) : entry;
  }

  private plan() {
    const { clock, limits } = this.parts;
    const files = this.catalogue.files.map(({ number, bytes, indexBytes, tally, places }) => ({
      number,
      bytes: bytes + indexBytes,
      lastMs: tally.lastMs,
      shares: tally.shares,
      // A file without an index is written to, or was when the member ended.
      isOpen: places !== null,
    }));
    const plan = planRetention(files, limits, this.erased.all, clock.wall());
    this.cutOffs = plan.cutOffs;
    return plan;
  }

  private warn(what: string, error: unknown): void {
    this.parts.log.warn('The history could not be kept; timers are not affected.', {
      event: 'history-failed',
      what,
      reason: String(error),
    });
  }
}
