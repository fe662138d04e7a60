/**
 * Reads the files on disk again from time to time, so that damage is found while other members have copies and this one
 * has everything in memory. Slowly: a little at a time, with pauses in between.
 *
 * Bytes that the kernel still has in memory are read from there, so damage of the last hours may show only after a
 * while.
 */
import {
  type Cancel,
  type Clock,
  type Disk,
  DiskError,
  MalformedError,
  sleep,
} from '@carillon/core';
import { contentsName, type Filed, ForeignContentsError, readContents } from './files/contents.ts';
import { isOutOfDescriptors } from './files/descriptors.ts';
import { FileReader, readHeader } from './files/file-reader.ts';
import { type FileKind, fileName, OtherFormError } from './files/segment.ts';

/** Read at once: checking it takes a fraction of a millisecond. */
const chunkBytes = 128 * 1024;
/** After each: no more than about 12 MiB a second. */
const pauseMs = 10;
/** A pass that found no descriptor free begins anew after this. */
const noDescriptorRetryMs = 10_000;

export interface ScrubParts {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly identity: string;
  readonly intervalMs: number;
  /** The files, and how much of each is synced right now. */
  readonly files: () => { readonly snapshot: Filed | null; readonly segments: readonly Filed[] };
  readonly onRead: (bytes: number) => void;
  /** A file differs from the bytes that were written; the rest of the folder is not read this time. */
  readonly onDamage: (file: string) => void;
}

export class Scrub {
  private readonly parts: ScrubParts;
  private stopped = false;
  private cancel: Cancel = () => {};

  constructor(parts: ScrubParts) {
    this.parts = parts;
  }

  start(): void {
    this.passAfter(this.parts.intervalMs);
  }

  stop(): void {
    this.stopped = true;
    this.cancel();
  }

  /** Reads everything once, up to the first damage. Rejects when a file cannot be opened for lack of a descriptor. */
  async pass(): Promise<void> {
    const { files, onDamage } = this.parts;
    const { snapshot, segments } = files();
    if (!(await this.hasContents())) return onDamage(contentsName);
    const all: [FileKind, Filed][] = segments.map((filed) => ['journal', filed]);
    if (snapshot !== null) all.unshift(['snapshot', snapshot]);
    for (const [kind, filed] of all) {
      const isIntact = await this.isIntact(fileName(kind, filed.number), filed);
      if (this.stopped) return;
      // One that was replaced meanwhile is gone for good reason.
      if (!isIntact && this.isCurrent(kind, filed)) return onDamage(fileName(kind, filed.number));
    }
  }

  private passAfter(ms: number): void {
    const { clock, intervalMs } = this.parts;
    const again = (afterMs: number): void => {
      if (!this.stopped) this.passAfter(afterMs);
    };
    this.cancel = clock.at(clock.now() + ms, () => {
      this.pass().then(
        () => again(intervalMs),
        (error: unknown) =>
          again(isOutOfDescriptors(error) ? Math.min(noDescriptorRetryMs, intervalMs) : intervalMs),
      );
    });
  }

  private async hasContents(): Promise<boolean> {
    const { disk, identity } = this.parts;
    return (await readContents(disk, identity).catch(nullIfUnreadable)) !== null;
  }

  private async isIntact(name: string, { salt, bytes }: Filed): Promise<boolean> {
    const { disk, clock, onRead } = this.parts;
    const start = await readHeader(disk, name).catch(nullIfUnreadable);
    if (start?.header.salt !== salt) return false;
    const reader = new FileReader(disk, { name, size: bytes, salt, noted: bytes, chunkBytes });
    const isWhole = await reader
      .verify(start.length, () => sleep(clock, pauseMs))
      .catch(nullIfUnreadable);
    onRead(bytes);
    return isWhole ?? false;
  }

  private isCurrent(kind: FileKind, { number, salt }: Filed): boolean {
    const { snapshot, segments } = this.parts.files();
    const files = kind === 'snapshot' ? [snapshot] : segments;
    return files.some((filed) => filed?.number === number && filed.salt === salt);
  }
}

function nullIfUnreadable(error: unknown): null {
  const reasons = [MalformedError, DiskError, OtherFormError, ForeignContentsError];
  if (isOutOfDescriptors(error)) throw error;
  if (reasons.some((reason) => error instanceof reason)) return null;
  throw error;
}
