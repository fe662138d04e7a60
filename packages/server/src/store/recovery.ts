/**
 * What a journal finds when it opens: the newest snapshot and the segments since, replayed in order, so that
 * the last word on each number is the right one. Starts with everything that is intact or not at all:
 *
 *  - a torn tail of the last segment is what a power cut leaves behind; it was never confirmed and is cut, and so is room
 *    that was taken ahead and not used
 *  - a damaged entry elsewhere is named; the entries around it are used
 *  - a segment missing from the row, a snapshot without its end, a header that cannot be read, or files of
 *    another member: a refusal to start, because what is missing cannot be known
 */
import { type Disk, DiskError, type Log, MalformedError, type TimerRecord } from '@carillon/core';
import { type Damage, FileReader, readHeader } from './file-reader.ts';
import {
  encodeHeader,
  type EntrySink,
  type FileKind,
  fileName,
  fileNumber,
  snapshotPartName,
} from './segment.ts';

/** So many damaged stretches get a line of their own in the log. */
const damageLinesMax = 20;

/** Thrown when starting would mean being silently wrong. */
export class RecoveryError extends Error {
  override readonly name = 'RecoveryError';
}

/** Gets the records as they are replayed. */
export interface Replay {
  put(record: TimerRecord): void;
  drop(hi: number, lo: number): void;
}

export interface Recovered {
  /** The number for the next segment. */
  readonly nextNumber: number;
  /** The newest snapshot's number; 0: there is none. */
  readonly snapshotNumber: number;
  /** The highest mark; 0: none. */
  readonly marked: number;
  readonly damaged: readonly Damage[];
  /** In the segments since the snapshot. */
  readonly journalBytes: number;
  readonly entryCount: number;
}

interface FoundFile {
  readonly name: string;
  readonly size: number;
}

interface Numbered extends FoundFile {
  readonly number: number;
}

export interface RecoveryOptions {
  readonly disk: Disk;
  readonly log: Log;
  readonly identity: string;
  readonly baseMs: number;
  readonly replay: Replay;
}

export async function recover(options: RecoveryOptions): Promise<Recovered> {
  return new Recovery(options).run();
}

/** Which files are to be read, in order, and which are left over from before the newest snapshot. */
export function plan(files: readonly FoundFile[]): {
  snapshot: Numbered | null;
  segments: Numbered[];
  stale: string[];
} {
  const snapshots = numbered('snapshot', files);
  const snapshot = snapshots.at(-1) ?? null;
  const first = snapshot?.number ?? 1;
  const all = numbered('journal', files);
  const segments = all.filter(({ number }) => number >= first);
  segments.forEach(({ number }, place) => {
    if (number !== first + place) throw missing(first + place, snapshot);
  });
  if (snapshot !== null && segments.length === 0) throw missing(first, snapshot);
  const stale = [...snapshots.slice(0, -1), ...all.filter(({ number }) => number < first)];
  return { snapshot, segments, stale: stale.map(({ name }) => name) };
}

function missing(number: number, snapshot: Numbered | null): RecoveryError {
  const since =
    snapshot === null ? 'there is no snapshot' : `the newest snapshot is ${snapshot.name}`;
  return new RecoveryError(
    `${fileName('journal', number)} is missing (${since}), so records would be lost silently. Put the file back, or empty the folder to start without its records.`,
  );
}

function numbered(kind: FileKind, files: readonly FoundFile[]): Numbered[] {
  return files
    .flatMap((file) => {
      const number = fileNumber(kind, file.name);
      return number === null ? [] : [{ ...file, number }];
    })
    .toSorted((a, b) => a.number - b.number);
}

class Recovery implements EntrySink {
  private readonly options: RecoveryOptions;
  private readonly damaged: Damage[] = [];
  private marked = 0;
  private entryCount = 0;
  /** What the end of the snapshot says; null: no end seen. */
  private endCount: number | null = null;
  private putCount = 0;

  constructor(options: RecoveryOptions) {
    this.options = options;
  }

  async run(): Promise<Recovered> {
    const { disk } = this.options;
    const { snapshot, segments, stale } = plan(await disk.list());
    if (snapshot !== null) await this.readSnapshot(snapshot);
    let lastIsEmpty = false;
    for (const segment of segments) {
      lastIsEmpty = await this.readSegment(segment, segment === segments.at(-1));
    }
    for (const name of [...stale, snapshotPartName]) await disk.remove(name);
    this.reportDamage();
    const last = segments.at(-1)?.number ?? 0;
    return {
      // An empty last segment is written anew: a member that keeps restarting leaves one file, not many.
      nextNumber: lastIsEmpty ? last : last + 1,
      snapshotNumber: snapshot?.number ?? 0,
      marked: this.marked,
      damaged: this.damaged,
      journalBytes: segments.reduce((sum, { size }) => sum + size, 0),
      entryCount: this.entryCount,
    };
  }

  put(record: TimerRecord): void {
    this.entryCount++;
    this.putCount++;
    this.options.replay.put(record);
  }

  drop(hi: number, lo: number): void {
    this.entryCount++;
    this.options.replay.drop(hi, lo);
  }

  mark(ms: number): void {
    this.marked = Math.max(this.marked, ms);
  }

  end(count: number): void {
    this.endCount = count;
  }

  private async readSnapshot(file: Numbered): Promise<void> {
    const content = await this.read(file, await this.header('snapshot', file));
    if (this.endCount === null || content.end < file.size) {
      throw new RecoveryError(
        `${file.name} is damaged: its end is missing, so records would be lost silently. Put an intact copy back, or empty the folder to fetch everything from the replicas.`,
      );
    }
    const lost = this.endCount - this.putCount;
    if (lost === 0) return;
    if (content.damaged.length === 0) {
      throw new RecoveryError(
        `${file.name} says that it holds ${this.endCount} records and holds ${this.putCount}.`,
      );
    }
    this.options.log.error('A snapshot is damaged: records are lost on this member.', {
      file: file.name,
      records: lost,
    });
  }

  /** True when there is not one entry in it. */
  private async readSegment(file: Numbered, isLast: boolean): Promise<boolean> {
    const { disk, log, identity } = this.options;
    const expected = encodeHeader({ kind: 'journal', number: file.number, salt: 0, identity });
    // Entries are only written after the header was synced: what is no longer than a header holds none.
    if (isLast && file.size <= expected.length && !(await this.hasHeader(file))) return true;
    const header = await this.header('journal', file);
    const content = await this.read(file, header);
    const tail = file.size - content.end;
    if (!isLast) {
      if (tail > 0) this.damaged.push({ file: file.name, offset: content.end, bytes: tail });
      return false;
    }
    if (content.torn) {
      log.warn('The journal ends with a torn entry, as after a power cut; it is cut off.', {
        file: file.name,
        offset: content.end,
        bytes: tail,
      });
    }
    // Also when there is nothing to cut: it syncs what a killed process left unsynced.
    await disk.truncate(file.name, content.end);
    return content.end === header.length;
  }

  private async read(file: Numbered, header: { salt: number; length: number }) {
    const { disk, baseMs } = this.options;
    const content = await new FileReader(disk, file, header.salt).read(header.length, baseMs, this);
    for (const damage of content.damaged) this.damaged.push(damage);
    return content;
  }

  private async hasHeader(file: Numbered): Promise<boolean> {
    try {
      await readHeader(this.options.disk, file.name);
      return true;
    } catch (error) {
      if (error instanceof DiskError) throw error;
      return false;
    }
  }

  private async header(kind: FileKind, file: Numbered): Promise<{ salt: number; length: number }> {
    const { header, length } = await readHeader(this.options.disk, file.name).catch(
      (cause: unknown) => {
        if (!(cause instanceof MalformedError)) throw cause;
        throw new RecoveryError(`${file.name} cannot be read. ${cause.message}`, { cause });
      },
    );
    if (header.identity !== this.options.identity) {
      throw new RecoveryError(
        `${file.name} belongs to ${header.identity}, not to ${this.options.identity}. Each member needs a folder of its own.`,
      );
    }
    if (header.kind !== kind || header.number !== file.number) {
      throw new RecoveryError(
        `${file.name} was ${fileName(header.kind, header.number)} when it was written. Give it its name back.`,
      );
    }
    return { salt: header.salt, length };
  }

  private reportDamage(): void {
    const { log } = this.options;
    for (const { file, offset, bytes } of this.damaged.slice(0, damageLinesMax)) {
      log.error('A stretch of the journal is damaged; its entries are lost here.', {
        file,
        offset,
        bytes,
      });
    }
    const more = this.damaged.length - damageLinesMax;
    if (more > 0) log.error('More of the journal is damaged.', { stretches: more });
  }
}
