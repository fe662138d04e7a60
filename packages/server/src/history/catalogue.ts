/**
 * The files of the history: finds them at the start, completes them with an index, removes them and writes them anew.
 * Everything here happens one after the other, except appends to the open file.
 */
import type { Clock, Disk, DiskFile, Log } from '@carillon/core';
import { type Block, BlockWriter } from './block.ts';
import type { Entry } from './entry.ts';
import { encodeIndex } from './file-index.ts';
import {
  eachBlock,
  fileHead,
  fromBlocks,
  fromIndex,
  type HistoryFile,
  historyName,
  historyNumber,
  indexName,
  isPart,
  partOf,
} from './file.ts';
import { HistoryTally } from './tally.ts';

export interface CatalogueParts {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
}

/** A file with this many blocks is complete, however short they are. */
const blockCountMax = 4096;

/** The file that entries are appended to. */
export interface OpenFile {
  readonly file: HistoryFile;
  readonly handle: DiskFile;
  readonly beganMs: number;
}

export class Catalogue {
  private readonly parts: CatalogueParts;
  private known: HistoryFile[] = [];
  private openFile: OpenFile | null = null;
  private hasBegun = false;
  /** The last one in use, also by a file that cannot be read; null: not known yet. */
  private lastNumber: number | null = null;

  constructor(parts: CatalogueParts) {
    this.parts = parts;
  }

  /** The oldest first. */
  get files(): readonly HistoryFile[] {
    return this.known;
  }

  get open(): OpenFile | null {
    return this.openFile;
  }

  get bytes(): number {
    return this.known.reduce((sum, file) => sum + file.bytes + file.indexBytes, 0);
  }

  /** Reads which files there are. A file that cannot be read is left alone and not shown. Rejects with DiskError. */
  async find(): Promise<void> {
    const { disk, log } = this.parts;
    const listed = await disk.list();
    const names = new Set(listed.map(({ name }) => name));
    for (const name of names) if (isPart(name)) await disk.remove(name);
    const found: HistoryFile[] = [];
    const numbered = numberedFiles(listed);
    for (const { number, size } of numbered) {
      const file = await this.read(number, size, names.has(indexName(number)));
      if (file !== null) found.push(file);
      else
        log.warn('A file of the history cannot be read.', {
          event: 'history-unreadable',
          file: historyName(number),
        });
    }
    this.known = found;
    this.lastNumber = numbered.at(-1)?.number ?? 0;
  }

  private async read(number: number, size: number, hasIndex: boolean): Promise<HistoryFile | null> {
    const { disk } = this.parts;
    try {
      const indexed = hasIndex ? await fromIndex(disk, number, size) : null;
      return indexed ?? (await fromBlocks(this.parts, number));
    } catch {
      return null;
    }
  }

  /** A file to append to: the last one, if little is in it, or a new one. Rejects with DiskError. */
  async begin(littleBytes: number): Promise<OpenFile> {
    const { clock } = this.parts;
    if (this.lastNumber === null) await this.find();
    const last = this.known.at(-1);
    // Only after a start: a file that is short and complete has very many blocks.
    const goesOn = !this.hasBegun && last !== undefined && last.bytes <= littleBytes;
    this.hasBegun = true;
    for (const file of this.known)
      if (file.places !== null) await this.complete(file, goesOn && file === last);
    const begun = goesOn ? await this.goOn(last) : await this.create();
    this.openFile = { ...begun, beganMs: clock.now() };
    return this.openFile;
  }

  private async create(): Promise<Omit<OpenFile, 'beganMs'>> {
    const { disk } = this.parts;
    const number = (this.lastNumber ?? 0) + 1;
    this.lastNumber = number;
    const handle = await disk.create(historyName(number));
    await handle.append(fileHead);
    const file = empty(number);
    this.known.push(file);
    return { file, handle };
  }

  /** The blocks of a short file are copied, because a closed file cannot be appended to. */
  private async goOn(last: HistoryFile): Promise<Omit<OpenFile, 'beganMs'>> {
    const copied = await this.copy(last, null);
    this.replace(last, copied.file);
    return copied;
  }

  async append({ file, handle }: OpenFile, block: Block): Promise<void> {
    await handle.append(block.bytes);
    place(file, block);
  }

  /** Whether the open file has all that it should. */
  isComplete({ file, beganMs }: OpenFile, limits: { bytesMax: number; ageMsMax: number }): boolean {
    const isOld = this.parts.clock.now() - beganMs > limits.ageMsMax;
    const blockCount = file.places?.length ?? 0;
    return (
      file.bytes >= limits.bytesMax || blockCount >= blockCountMax || (isOld && blockCount > 0)
    );
  }

  /** The open file gets its index, and no more entries. */
  async close(): Promise<void> {
    const open = this.openFile;
    if (open === null) return;
    this.openFile = null;
    await open.handle.sync();
    await open.handle.close();
    await this.complete(open.file, false);
  }

  /** Gives up the open file after a failed write: its intact blocks stay. */
  abandon(): void {
    const open = this.openFile;
    this.openFile = null;
    open?.handle.close().catch(() => undefined);
  }

  /** Writes the index of a file whose blocks are in memory; `spared`: it goes on to grow. */
  private async complete(file: HistoryFile, spared: boolean): Promise<void> {
    const { places, tally, number } = file;
    if (spared || places === null) return;
    const bytes = encodeIndex(file.bytes, places, tally);
    await this.writeFile(indexName(number), bytes);
    const slim = { ...file, tally: HistoryTally.of(tally.toJson()), places: null };
    this.replace(file, { ...slim, indexBytes: bytes.length });
  }

  async remove(number: number): Promise<void> {
    const { disk } = this.parts;
    if (this.openFile?.file.number === number) return;
    this.known = this.known.filter((file) => file.number !== number);
    await disk.remove(historyName(number));
    await disk.remove(indexName(number));
  }

  /** Writes a complete file anew: `change` gives each entry as it is to stay, or null. */
  async rewrite(number: number, change: (entry: Entry) => Entry | null): Promise<void> {
    const file = this.known.find((one) => one.number === number);
    if (file === undefined || this.openFile?.file === file) return;
    const { file: rewritten, handle } = await this.copy(file, change);
    await handle.close();
    this.replace(file, rewritten);
    if (rewritten.tally.entryCount === 0) await this.remove(number);
    else await this.complete(rewritten, false);
  }

  /** Writes the blocks of a file to another one, which then takes its name. */
  private async copy(
    { number }: HistoryFile,
    change: ((entry: Entry) => Entry | null) | null,
  ): Promise<Omit<OpenFile, 'beganMs'>> {
    const { disk } = this.parts;
    const name = historyName(number);
    const handle = await disk.create(partOf(name));
    const file = empty(number);
    await handle.append(fileHead);
    await eachBlock(this.parts, number, async ({ entries }) => {
      const block = changed(entries, change);
      await handle.append(block.bytes);
      place(file, block);
    });
    await handle.sync();
    // An index of the old form of the file must never meet the new one.
    await disk.remove(indexName(number));
    await disk.rename(partOf(name), name);
    return { file, handle };
  }

  private replace(old: HistoryFile, by: HistoryFile): void {
    this.known = this.known.map((file) => (file === old ? by : file));
  }

  private async writeFile(name: string, bytes: Uint8Array): Promise<void> {
    const { disk } = this.parts;
    const handle = await disk.create(partOf(name));
    await handle.append(bytes);
    await handle.sync();
    await handle.close();
    await disk.rename(partOf(name), name);
  }
}

/** The oldest first. */
function numberedFiles(listed: readonly { readonly name: string; readonly size: number }[]) {
  return listed
    .flatMap(({ name, size }) => {
      const number = historyNumber(name);
      return number === null ? [] : [{ number, size }];
    })
    .toSorted((a, b) => a.number - b.number);
}

function changed(
  entries: readonly Entry[],
  change: ((entry: Entry) => Entry | null) | null,
): Block {
  const writer = new BlockWriter();
  for (const entry of entries) {
    const kept = change === null ? entry : change(entry);
    if (kept !== null) writer.add(kept);
  }
  return writer.take();
}

function empty(number: number): HistoryFile {
  return { number, bytes: fileHead.length, tally: new HistoryTally(), places: [], indexBytes: 0 };
}

function place(file: HistoryFile, { bytes, tally }: Block): void {
  const { entryCount, firstMs, lastMs } = tally;
  file.places?.push({ offset: file.bytes, entryCount, firstMs, lastMs });
  file.tally.append(tally);
  file.bytes += bytes.length;
}
