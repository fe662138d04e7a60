/**
 * Reads the history from its newest entry back: of one timer by the index of each file, otherwise block by block. One
 * reading is bounded in entries, bytes and time, and tells where the next one goes on.
 */
import type { Clock, Disk } from '@carillon/core';
import type { ReadBlock } from './block.ts';
import { type Action, type Entry, hashOf, withoutAnswer } from './entry.ts';
import { blockAt, type HistoryFile, offsetsIn, placesIn, turn } from './file.ts';
import type { Erased } from './retention.ts';

/** Between two entries of one member: everything older is before it. */
export interface Position {
  readonly file: number;
  readonly offset: number;
  readonly index: number;
}

export interface HistoryAsk {
  /** null: all namespaces. */
  readonly namespace: string | null;
  /** null: all timers. */
  readonly number: { readonly hi: number; readonly lo: number } | null;
  /** null: of any actor, and attempts as well; so with `action`. */
  readonly actor: string | null;
  readonly action: Action | null;
  /** Only changes, no attempts. */
  readonly changesOnly: boolean;
  /** Wall-clock milliseconds. */
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Only older entries than this position; null: from the newest. */
  readonly before: Position | null;
  readonly limit: number;
}

export interface PlacedEntry {
  readonly entry: Entry;
  readonly position: Position;
}

export interface HistoryRead {
  /** The newest first. */
  readonly entries: readonly PlacedEntry[];
  /** Where older entries may be; null: there are none. */
  readonly more: Position | null;
}

export interface ReaderParts {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly files: () => readonly HistoryFile[];
  /** Entries in files up to this number are out of the namespace's budget. */
  readonly cutOffs: () => ReadonlyMap<string, number>;
  readonly erased: () => Erased;
}

/** One reading takes no more of these: the rest is for the next one. */
const readBytesMax = 16 * 1024 * 1024;
const readMsMax = 500;
/** Texts and figures of the entries of one answer. */
const answerBytesMax = 64 * 1024;
/** So many blocks are read before other work has its turn. */
const turnBlockCount = 8;

export async function readBack(parts: ReaderParts, ask: HistoryAsk): Promise<HistoryRead> {
  const reading = new Reading(parts, ask);
  for (const file of parts.files().toReversed()) {
    if (!(await reading.file(file))) break;
  }
  return reading.result();
}

const entryBytes = 32;

/** The texts of an entry; equal ones stand once in an answer. */
function textsOf(entry: Entry): string {
  const more = entry.kind === 'attempt' ? entry.detail : `${entry.actor} ${entry.tag}`;
  return `${entry.namespace} ${more}`;
}

class Reading {
  private readonly parts: ReaderParts;
  private readonly ask: HistoryAsk;
  private readonly hash: number | null;
  private readonly untilMs: number;
  private readonly found: PlacedEntry[] = [];
  private bytes = 0;
  private answerBytes = 0;
  /** Of the entry before. */
  private texts = '';
  private blocks = 0;
  private more: Position | null = null;

  constructor(parts: ReaderParts, ask: HistoryAsk) {
    this.parts = parts;
    this.ask = ask;
    this.hash = ask.number === null ? null : hashOf(ask.number.hi, ask.number.lo);
    this.untilMs = parts.clock.now() + readMsMax;
  }

  result(): HistoryRead {
    return { entries: this.found, more: this.more };
  }

  /** False: enough is read. */
  async file(file: HistoryFile): Promise<boolean> {
    const { before } = this.ask;
    if (before !== null && file.number > before.file) return true;
    if (!this.mayHave(file)) return true;
    try {
      for (const offset of await this.offsets(file)) {
        if (before !== null && file.number === before.file && offset > before.offset) continue;
        if (!(await this.block(file, offset))) return false;
      }
    } catch {
      // The disk does not give it: the entries of the other files are an answer too.
    }
    return true;
  }

  private mayHave({ number, tally }: HistoryFile): boolean {
    const { namespace, actor, action, changesOnly, sinceMs, untilMs } = this.ask;
    if (tally.lastMs < sinceMs || tally.firstMs > untilMs) return false;
    if (namespace !== null && (!tally.shares.has(namespace) || this.isCut(number, namespace)))
      return false;
    if (changesOnly && !tally.hasChanges) return false;
    if (actor !== null && !tally.mayHaveActor(actor)) return false;
    return action === null || tally.mayHaveAction(action);
  }

  private async offsets(file: HistoryFile): Promise<readonly number[]> {
    const { disk } = this.parts;
    const { sinceMs, untilMs } = this.ask;
    if (this.hash !== null) return offsetsIn(disk, file, this.hash);
    return (await placesIn(disk, file))
      .filter(({ firstMs, lastMs }) => lastMs >= sinceMs && firstMs <= untilMs)
      .map(({ offset }) => offset)
      .toReversed();
  }

  private async block({ number }: HistoryFile, offset: number): Promise<boolean> {
    const { disk, clock } = this.parts;
    if (this.bytes > readBytesMax || clock.now() > this.untilMs) {
      this.more = { file: number, offset: offset + 1, index: 0 };
      return false;
    }
    const block = await blockAt(disk, number, offset);
    if (++this.blocks % turnBlockCount === 0) await turn(clock);
    if (block === null) return true;
    this.bytes += block.bytes;
    return this.take(block, number, offset);
  }

  private take({ entries }: ReadBlock, file: number, offset: number): boolean {
    const { before, limit } = this.ask;
    const isLast = before !== null && before.file === file && before.offset === offset;
    for (let index = (isLast ? before.index : entries.length) - 1; index >= 0; index--) {
      const entry = entries[index];
      if (entry === undefined || !this.matches(entry, file)) continue;
      if (this.found.length === limit || this.answerBytes > answerBytesMax) {
        this.more = { file, offset, index: index + 1 };
        return false;
      }
      const shown = this.isErased(entry) ? withoutAnswer(entry) : entry;
      this.found.push({ entry: shown, position: { file, offset, index } });
      this.count(shown);
    }
    return true;
  }

  private count(entry: Entry): void {
    const texts = textsOf(entry);
    this.answerBytes += entryBytes + (texts === this.texts ? 0 : Buffer.byteLength(texts));
    this.texts = texts;
  }

  private matches(entry: Entry, file: number): boolean {
    const { namespace, number, actor, action, changesOnly, sinceMs, untilMs } = this.ask;
    if (number !== null && (entry.lo !== number.lo || entry.hi !== number.hi)) return false;
    if (namespace !== null && entry.namespace !== namespace) return false;
    if (entry.wallMs < sinceMs || entry.wallMs > untilMs) return false;
    if (this.isCut(file, entry.namespace)) return false;
    if (entry.kind === 'attempt') return !changesOnly && actor === null && action === null;
    if (actor !== null && entry.actor !== actor) return false;
    return action === null || entry.action === action;
  }

  private isCut(file: number, namespace: string): boolean {
    return file <= (this.parts.cutOffs().get(namespace) ?? -1);
  }

  private isErased(entry: Entry): boolean {
    const beforeMs = this.parts.erased().get(entry.namespace);
    return beforeMs !== undefined && entry.wallMs < beforeMs;
  }
}
