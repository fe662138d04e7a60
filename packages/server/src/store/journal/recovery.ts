/**
 * The opening of a journal: the newest snapshot and the segments since are replayed in order, so that
 * the last word on each number is the right one. Starts with everything that can be read, and names the rest:
 *
 *  - a torn tail of the last segment is the trace of a power cut; it was never confirmed and is cut, and so is room
 *    that was taken ahead and not used. Bytes that were synced, by the table of contents, are no torn tail
 *  - damaged entries, files cut short, and files that are gone are named and counted; everything around them is
 *    used. A member that has replicas fetches the rest from them (see cluster/mending.ts)
 *  - files of another member, of a later release, or under a wrong name: a refusal to start, because a person put them
 *    there
 */
import { type Disk, DiskError, type Log, MalformedError, type TimerRecord } from '@carillon/core';
import { isBornFile } from './files/born.ts';
import {
  type Contents,
  contentsName,
  contentsPartName,
  type Filed,
  ForeignContentsError,
  type Lost,
  readContents,
  sumLost,
} from './files/contents.ts';
import { type Damage, type FileContent, FileReader, readHeader } from './files/file-reader.ts';
import { forms, isListed } from './files/form.ts';
import {
  encodeHeader,
  type EntrySink,
  type FileKind,
  fileName,
  fileNumber,
  OtherFormError,
  snapshotPartName,
} from './files/segment.ts';

/** So many damaged stretches get a line of their own in the log. */
const damageLinesMax = 20;

/** Beside its records a snapshot has an entry in front and one behind them. */
const snapshotExtraCount = 2;

/** Where the entries of a file begin, and the seed of their checksums. */
interface Start {
  readonly salt: number;
  readonly length: number;
}

/** Thrown when starting would mean being silently wrong. */
export class RecoveryError extends Error {
  override readonly name = 'RecoveryError';
}

/** Gets the records as they are replayed. */
export interface Replay {
  /** The record is lent: it changes with the next one. */
  put(record: TimerRecord): void;
  drop(hi: number, lo: number): void;
  /**
   * A block of rows of a snapshot, before anything else. Returns how many are taken; throws MalformedError for bytes
   * that are no block.
   */
  rows(bytes: Uint8Array, baseMs: number): number;
  /** No more rows come. */
  rowsEnd(): void;
}

export interface Recovered {
  /** The newest form of its files; of an empty folder the one that the release before reads. */
  readonly form: number;
  /** The number for the next segment. */
  readonly nextNumber: number;
  /** The newest snapshot and the segments since, as they were found. */
  readonly snapshot: Filed | null;
  readonly segments: readonly Filed[];
  /** The highest mark; 0: none. */
  readonly marked: number;
  readonly damaged: readonly Damage[];
  /** Entries that are missing here, also from an earlier start that was not made up for since; null: none. */
  readonly lost: Lost | null;
  /** Timers of which this member had the only copy, as noted last; null: that is not known. */
  readonly singles: number | null;
  /** Something stood behind the last intact entry: it was being written, or it was damaged in the last seconds. */
  readonly torn: boolean;
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

/**
 * Which files are to be read, in order, which of them are gone, and which are left over from before the newest
 * snapshot.
 */
export function plan(
  files: readonly FoundFile[],
  contents: Pick<Contents, 'snapshot' | 'segments'> | null,
): {
  snapshot: Numbered | null;
  segments: Numbered[];
  /** Names of files that should be there. */
  gone: string[];
  stale: string[];
} {
  const snapshots = numbered('snapshot', files);
  const all = numbered('journal', files);
  const newest = snapshots.at(-1) ?? null;
  const noted = contents?.snapshot?.number ?? 0;
  const isGone = noted > (newest?.number ?? 0);
  const snapshot = isGone ? null : newest;
  const first = Math.max(1, noted, newest?.number ?? 0);
  const segments = all.filter(({ number }) => number >= first);
  const gone = isGone ? [fileName('snapshot', noted)] : [];
  const last = Math.max(segments.at(-1)?.number ?? 0, snapshot?.number ?? 0);
  for (const number of expectedNumbers(contents, first, last)) {
    const isThere = number < first || segments.some((segment) => segment.number === number);
    if (!isThere) gone.push(fileName('journal', number));
  }
  const stale = [...snapshots.filter((file) => file !== snapshot), ...all].filter(
    (file) => !segments.includes(file),
  );
  return { snapshot, segments, gone, stale: stale.map(({ name }) => name) };
}

/** Segments that there should be: the noted ones, or without a table every one of the row. */
function expectedNumbers(
  contents: Pick<Contents, 'segments'> | null,
  first: number,
  last: number,
): readonly number[] {
  if (contents !== null) return contents.segments.map(({ number }) => number);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => first + place);
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
  private contents: Contents | null = null;
  private readonly damaged: Damage[] = [];
  private lost: Lost | null = null;
  private torn = false;
  private marked = 0;
  private form = forms.before;
  private entryCount = 0;
  /** Intact entries of any kind. */
  private foundCount = 0;
  /** Files that were written while a table of contents was kept, and before there was one. */
  private listedCount = 0;
  private unlistedCount = 0;
  /** The count at the end of the snapshot; null: no end seen. */
  private endCount: number | null = null;
  private putCount = 0;
  /** Records that came in blocks of rows, and whether more may come. */
  private rowCount = 0;
  private mayHaveRows = true;

  constructor(options: RecoveryOptions) {
    this.options = options;
  }

  async run(): Promise<Recovered> {
    const { disk } = this.options;
    const files = await disk.list();
    this.contents = await this.readContents();
    this.lost = this.contents?.lost ?? null;
    const { snapshot, segments, gone, stale } = plan(files, this.contents);
    for (const name of gone) this.noteGone(name);
    const foundSnapshot = snapshot === null ? null : await this.readSnapshot(snapshot);
    this.endRows();
    const found: Filed[] = [];
    for (const segment of segments) {
      found.push(await this.readSegment(segment, segment === segments.at(-1)));
    }
    if (this.contents === null && this.needsContents(files)) this.noteGone(contentsName);
    for (const name of [...stale, snapshotPartName, contentsPartName]) await disk.remove(name);
    this.reportDamage();
    const last = Math.max(found.at(-1)?.number ?? 0, this.contents?.segments.at(-1)?.number ?? 0);
    // An empty last segment is written anew: a member that keeps restarting leaves one file, not many.
    const lastIsEmpty = found.at(-1)?.number === last && found.at(-1)?.entries === 0;
    return {
      form: this.form,
      nextNumber: Math.max(lastIsEmpty ? last : last + 1, foundSnapshot?.number ?? 0),
      snapshot: foundSnapshot,
      segments: found,
      marked: this.marked,
      damaged: this.damaged,
      lost: this.lost,
      singles: this.contents?.singles ?? null,
      torn: this.torn,
      journalBytes: segments.reduce((sum, { size }) => sum + size, 0),
      entryCount: this.entryCount,
    };
  }

  put(record: TimerRecord): void {
    this.endRows();
    this.entryCount++;
    this.putCount++;
    this.options.replay.put(record);
  }

  drop(hi: number, lo: number): void {
    this.endRows();
    this.entryCount++;
    this.options.replay.drop(hi, lo);
  }

  mark(ms: number): void {
    this.marked = Math.max(this.marked, ms);
  }

  end(count: number): void {
    this.endCount = count;
  }

  rows(bytes: Uint8Array, count: number, baseMs: number): void {
    // Rows are taken as they are, without a look at others with their number: there must be none.
    if (!this.mayHaveRows) {
      throw new MalformedError('Rows stand only in a snapshot, and beside nothing else.');
    }
    const taken = this.options.replay.rows(bytes, baseMs);
    this.rowCount += taken;
    this.entryCount += taken;
    this.putCount += taken;
    if (taken < count) throw new MalformedError(`Of ${count} rows ${count - taken} are none.`);
  }

  private endRows(): void {
    if (!this.mayHaveRows) return;
    this.mayHaveRows = false;
    if (this.rowCount > 0) this.options.replay.rowsEnd();
  }

  private async readContents(): Promise<Contents | null> {
    const { disk, identity } = this.options;
    try {
      return await readContents(disk, identity);
    } catch (cause) {
      if (!(cause instanceof ForeignContentsError)) throw cause;
      throw new RecoveryError(`${contentsName} cannot be used. ${cause.message}`, { cause });
    }
  }

  /**
   * Without a table other losses cannot be told; a folder that was never used to the end of its first start has none
   * yet.
   */
  private needsContents(files: readonly FoundFile[]): boolean {
    const isUsed = files.some(({ name }) => isBornFile(name)) || this.foundCount > 0;
    const isOlder = this.unlistedCount > 0 && this.listedCount === 0;
    return isUsed && !isOlder;
  }

  /** How the file was noted; null: it was not. */
  private noted(kind: FileKind, number: number): Filed | null {
    const { contents } = this;
    const files = kind === 'snapshot' ? [contents?.snapshot ?? null] : (contents?.segments ?? []);
    return files.find((filed) => filed?.number === number) ?? null;
  }

  private async readSnapshot(file: Numbered): Promise<Filed> {
    const noted = this.noted('snapshot', file.number);
    const start = await this.header('snapshot', file, noted);
    if (start === null) {
      this.lose(noted === null ? null : noted.entries - snapshotExtraCount);
      return { number: file.number, salt: 0, bytes: file.size, entries: snapshotExtraCount };
    }
    const content = await this.read(file, start, noted);
    const { endCount, putCount } = this;
    const tail = file.size - content.end;
    if (tail > 0 || endCount === null) this.damage(file.name, content.end, tail);
    const wanted = noted === null ? endCount : noted.entries - snapshotExtraCount;
    if (wanted === null || wanted > putCount) this.lose(wanted === null ? null : wanted - putCount);
    const entries = putCount + snapshotExtraCount;
    return { number: file.number, salt: start.salt, bytes: file.size, entries };
  }

  private async readSegment(file: Numbered, isLast: boolean): Promise<Filed> {
    const { disk } = this.options;
    const { number, name, size } = file;
    const noted = this.noted('journal', number);
    const start = await this.segmentStart(file, isLast);
    if (start === null) return { number, salt: 0, bytes: size, entries: 0 };
    const content = await this.read(file, start, noted);
    const { count, end } = content;
    const missing = (noted?.entries ?? 0) - content.countNoted;
    if (missing > 0) this.lose(missing);
    // Entries behind the noted length were never counted.
    if (content.damaged.some((damage) => damage.offset >= (noted?.bytes ?? 0))) this.lose(null);
    const isCut = end < (noted?.bytes ?? 0);
    if (isCut) this.damage(name, end, (noted?.bytes ?? 0) - end);
    else if (!isLast && end < size) this.damage(name, end, size - end);
    if (!isLast && !isCut && end < size) this.lose(null);
    if (isLast) {
      if (!isCut && content.torn) this.noteTorn(file, content);
      // Also when there is nothing to cut: it syncs the bytes that a killed process left unsynced.
      await disk.truncate(name, isCut ? size : end);
    }
    return { number, salt: start.salt, bytes: isLast && !isCut ? end : size, entries: count };
  }

  /** null: there is not one entry in it, or none that can be read. */
  private async segmentStart(file: Numbered, isLast: boolean): Promise<Start | null> {
    const noted = this.noted('journal', file.number);
    const headerBytes = this.headerBytes('journal', file.number);
    // Entries are only written after the header was synced: a file no longer than a header holds none.
    const isEmpty = isLast && file.size <= headerBytes && (noted?.entries ?? 0) === 0;
    if (isEmpty && !(await this.hasHeader(file))) return null;
    const start = await this.header('journal', file, noted);
    if (start === null) this.lose(noted?.entries ?? null);
    return start;
  }

  private noteTorn({ name, size }: Numbered, { end }: FileContent): void {
    this.torn = true;
    this.options.log.warn(
      'The journal ends with a torn entry, as after a power cut; it is cut off.',
      { event: 'journal-torn', file: name, offset: end, bytes: size - end },
    );
  }

  private noteGone(name: string): void {
    this.reportGone(name);
    this.damage(name, 0, 0);
    const snapshot = fileNumber('snapshot', name);
    const segment = fileNumber('journal', name);
    if (snapshot !== null) {
      const entries = this.noted('snapshot', snapshot)?.entries;
      this.lose(entries === undefined ? null : entries - snapshotExtraCount);
    } else this.lose(segment === null ? null : (this.noted('journal', segment)?.entries ?? null));
  }

  private reportGone(name: string): void {
    this.options.log.error('A file of the data folder is gone, or its beginning cannot be read.', {
      event: 'file-gone',
      file: name,
    });
  }

  private damage(file: string, offset: number, bytes: number): void {
    this.damaged.push({ file, offset, bytes });
  }

  /** null: the number cannot be told. */
  private lose(entries: number | null): void {
    this.lost = sumLost(this.lost, { entries: Math.max(0, entries ?? 0), more: entries === null });
  }

  private async read(file: Numbered, start: Start, noted: Filed | null): Promise<FileContent> {
    const { disk, baseMs } = this.options;
    const { name, size } = file;
    const reader = new FileReader(disk, { name, size, salt: start.salt, noted: noted?.bytes ?? 0 });
    const content = await reader.read(start.length, baseMs, this);
    for (const damage of content.damaged) this.damaged.push(damage);
    this.foundCount += content.count;
    return content;
  }

  private async hasHeader(file: Numbered): Promise<boolean> {
    try {
      await readHeader(this.options.disk, file.name);
      return true;
    } catch (error) {
      if (error instanceof DiskError) throw error;
      return error instanceof OtherFormError;
    }
  }

  /** Where entries begin, and their salt; null: the header cannot be read, and its content was not noted. */
  private async header(kind: FileKind, file: Numbered, noted: Filed | null): Promise<Start | null> {
    const { disk, identity } = this.options;
    const { number, name } = file;
    try {
      const { header, length } = await readHeader(disk, name);
      this.form = Math.max(this.form, header.form);
      if (isListed(header.form)) this.listedCount++;
      else this.unlistedCount++;
      if (header.identity !== identity) {
        throw new RecoveryError(
          `${name} belongs to ${header.identity}, not to ${identity}. Each member needs a folder of its own.`,
        );
      }
      if (header.kind !== kind || header.number !== number) {
        throw new RecoveryError(
          `${name} was ${fileName(header.kind, header.number)} when it was written. Give it its name back.`,
        );
      }
      return { salt: header.salt, length };
    } catch (cause) {
      if (cause instanceof OtherFormError) {
        throw new RecoveryError(`${name} cannot be read. ${cause.message}`, { cause });
      }
      if (!(cause instanceof MalformedError)) throw cause;
    }
    const length = this.headerBytes(kind, number);
    this.reportGone(name);
    this.damage(name, 0, noted === null ? file.size : length);
    return noted === null ? null : { salt: noted.salt, length };
  }

  private headerBytes(kind: FileKind, number: number): number {
    const { identity } = this.options;
    return encodeHeader({ form: forms.oldest, kind, number, salt: 0, identity }).length;
  }

  private reportDamage(): void {
    const { log } = this.options;
    const stretches = this.damaged.filter(({ offset }) => offset > 0);
    for (const { file, offset, bytes } of stretches.slice(0, damageLinesMax)) {
      log.error('A stretch of the journal is damaged; its entries are lost here.', {
        event: 'journal-damaged',
        file,
        offset,
        bytes,
      });
    }
    const more = stretches.length - damageLinesMax;
    if (more > 0)
      log.error('More of the journal is damaged.', {
        event: 'journal-damaged-more',
        stretches: more,
      });
    if (this.lost === null) return;
    log.error('This member has lost entries of its journal to damage on its disk.', {
      event: 'journal-entries-lost',
      entries: this.lost.entries,
      andMaybeMore: this.lost.more,
    });
  }
}
