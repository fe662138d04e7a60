/**
 * The segment being written, the ones before it, and the table of contents that names them all. `journal.ts` decides
 * when to write, sync and go on in the next one.
 *
 * Invariants:
 *  T1  A segment gets its first entry after its header is synced and the table of contents names it.
 *  T2  The table never says that more is synced than is.
 */
import type { Clock, Disk, DiskFile } from '@carillon/core';
import { checksum } from './files/checksum.ts';
import { ContentsWriter, type Filed, type Lost } from './files/contents.ts';
import type { Recovered } from './recovery.ts';
import { encodeHeader, fileName, fileNumber } from './files/segment.ts';

/** Room that a segment takes ahead of its entries, some thousands of them. */
const aheadBytes = 1024 * 1024;

export interface SegmentsParts {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly identity: string;
  /** Timers of which this member has the only copy. */
  readonly singles?: () => number;
}

export class Segments {
  private readonly parts: SegmentsParts;
  private readonly contents: ContentsWriter;
  /** In which files are written from now on. */
  form: number;
  private snapshot: Filed | null;
  /** Segments before the present one. */
  private earlier: readonly Filed[];
  private present: { readonly file: DiskFile; readonly number: number; readonly salt: number };
  private syncedBytes = 0;
  private syncedEntries = 0;
  private notedBytes = 0;
  private lostEntries: Lost | null;
  /** As noted before entries were lost. */
  private readonly singlesBefore: number;
  private opening = false;

  /** Behind the files that recovery found; `open` comes next. */
  constructor(parts: SegmentsParts, found: Recovered) {
    this.parts = parts;
    this.contents = new ContentsWriter(parts.disk, parts.identity);
    this.form = found.form;
    this.snapshot = found.snapshot;
    this.earlier = found.segments;
    this.present = { file: none, number: found.nextNumber - 1, salt: 0 };
    this.lostEntries = found.lost;
    this.singlesBefore = found.singles ?? 0;
  }

  get number(): number {
    return this.present.number;
  }

  /** For the checksums of entries in the present segment. */
  get salt(): number {
    return this.present.salt;
  }

  /** Everything that the table of contents would name now. */
  get files(): { readonly snapshot: Filed | null; readonly segments: readonly Filed[] } {
    const { snapshot, earlier, present } = this;
    return { snapshot, segments: present.file === none ? earlier : [...earlier, this.filed()] };
  }

  append(bytes: Uint8Array): Promise<void> {
    return this.present.file.append(bytes);
  }

  /** `entries`: how many were appended since the last sync. */
  async sync(entries: number): Promise<void> {
    await this.present.file.sync();
    this.syncedBytes = this.present.file.size;
    this.syncedEntries += entries;
  }

  /** Goes on in a new segment. Nothing may be appended meanwhile. */
  async open(): Promise<void> {
    const { disk } = this.parts;
    const number = this.number + 1;
    const name = fileName('journal', number);
    const old = this.present.file;
    const isNamed = this.earlier.some((filed) => filed.number === number);
    this.opening = true;
    try {
      await this.cut(old);
      const file = await disk.create(name, aheadBytes);
      try {
        await this.begin(file, number);
      } catch (error) {
        await file.close();
        if (!isNamed) await disk.remove(name);
        throw error;
      }
    } finally {
      this.opening = false;
    }
    await old.close();
  }

  /** Writes the table of contents if more is synced than it says. Rejects with DiskError. */
  async note(): Promise<void> {
    if (this.opening || this.syncedBytes === this.notedBytes) return;
    await this.write();
  }

  /** A snapshot has its final name: the files that it replaces go. `mended`: no entry counts as lost any more. */
  async replace(snapshot: Filed, mended: boolean): Promise<void> {
    this.snapshot = snapshot;
    this.earlier = this.earlier.filter(({ number }) => number >= snapshot.number);
    if (mended) this.lostEntries = null;
    await this.write();
    const { disk } = this.parts;
    for (const { name } of await disk.list()) {
      const found = fileNumber('journal', name) ?? fileNumber('snapshot', name);
      if (found !== null && found < snapshot.number) await disk.remove(name);
    }
  }

  /** Nothing a client can know or guess. */
  drawSalt(number: number): number {
    const { clock, identity } = this.parts;
    const text = `${identity} ${number} ${clock.wall()} ${clock.now()}`;
    return checksum(new TextEncoder().encode(text), 0, text.length, number);
  }

  close(): Promise<void> {
    return this.present.file.close();
  }

  /** Only the last segment may end with room that was never used. One that is gone has nothing to be cut. */
  private async cut(file: DiskFile): Promise<void> {
    const { disk } = this.parts;
    if (file === none || !(await disk.list()).some(({ name }) => name === file.name)) return;
    await disk.truncate(file.name, file.size);
  }

  private async begin(file: DiskFile, number: number): Promise<void> {
    const { identity } = this.parts;
    const { form } = this;
    const salt = this.drawSalt(number);
    await file.append(encodeHeader({ form, kind: 'journal', number, salt, identity }));
    await file.sync();
    const before = this.earlier.filter((filed) => filed.number < number);
    const earlier = this.present.file === none ? before : [...before, this.filed()];
    const { snapshot, singles, lostEntries: lost } = this;
    const fresh: Filed = { number, salt, bytes: file.size, entries: 0 };
    await this.contents.write(() => ({ snapshot, segments: [...earlier, fresh], lost, singles }));
    this.earlier = earlier;
    this.present = { file, number, salt };
    this.syncedBytes = file.size;
    this.syncedEntries = 0;
    this.notedBytes = file.size;
  }

  /** While lost entries have not been made up for, a second start must find the number from before the damage. */
  private get singles(): number {
    const now = this.parts.singles?.() ?? 0;
    return this.lostEntries === null ? now : Math.max(now, this.singlesBefore);
  }

  private filed(): Filed {
    const { number, salt } = this.present;
    return { number, salt, bytes: this.syncedBytes, entries: this.syncedEntries };
  }

  private async write(): Promise<void> {
    let bytes = 0;
    await this.contents.write(() => {
      bytes = this.syncedBytes;
      return { ...this.files, lost: this.lostEntries, singles: this.singles };
    });
    this.notedBytes = bytes;
  }
}

/** Before the first segment is open. */
const none: DiskFile = {
  name: '',
  size: 0,
  append: () => Promise.resolve(),
  sync: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
