/**
 * A record as its pairs in the search indexes follow from it: the namespace, the time of its next attempt, and a number
 * for each text that it is found by.
 *
 * Example. A timer of `shop` with the tag `order:17` for http://a.example/x has three marks: the hashes of the receiver
 * `http://a.example` and of the tag, and the place of `order:17` among all tags (`tag-place.ts`).
 */
import { decodeDefinition, DefinitionTexts, MalformedError } from '@carillon/core';
import type { IndexedRow } from './indexed-row.ts';
import { tagPlace } from './tag-place.ts';
import { hashOf, originEnd, type TextHashes } from './text-hashes.ts';

/** Marks below are hashes of 32 bits, and the others are this more than the place of a tag. */
export const placesFrom = 2 ** 32;

/** Changed in place: each change of the store would make another. */
export class RowKeys {
  namespace = '';
  /** Of the next attempt. */
  retryMs = 0;
  readonly marks = new FewNumbers();
}

/**
 * Numbers, each once. An array that is emptied by its length gives up its memory, which costs more than the numbers.
 */
class FewNumbers {
  private readonly numbers: number[] = [];
  count = 0;

  clear(): void {
    this.count = 0;
  }

  add(number: number): void {
    if (!this.has(number)) this.push(number);
  }

  /** The number is not here yet. */
  push(number: number): void {
    this.numbers[this.count++] = number;
  }

  has(number: number): boolean {
    const { numbers, count } = this;
    for (let i = 0; i < count; i++) if (numbers[i] === number) return true;
    return false;
  }

  at(place: number): number {
    return this.numbers[place] as number;
  }
}

const encoder = new TextEncoder();

export class KeyReader {
  private readonly hashes: TextHashes;
  private readonly scan = new DefinitionTexts();

  constructor(hashes: TextHashes) {
    this.hashes = hashes;
  }

  read(row: IndexedRow, into: RowKeys): void {
    const { hashes, scan } = this;
    const { namespace, bytes, from, to } = row;
    into.namespace = namespace;
    into.retryMs = row.retryMs;
    into.marks.clear();
    if (row.failing) into.marks.add(hashes.of(namespace, 'failing', ''));
    if (!scan.read(bytes, from, to)) {
      this.decode(row, into);
      return;
    }
    this.addReceiver(into, bytes, scan.uriFrom, scan.uriTo);
    for (let i = 0; i < scan.tagCount; i++) {
      this.addTag(into, bytes, scan.tags[i * 2] as number, scan.tags[i * 2 + 1] as number);
    }
  }

  private addReceiver(into: RowKeys, bytes: Uint8Array, from: number, to: number): void {
    const seed = this.hashes.seedOf(into.namespace, 'receiver');
    into.marks.add(hashOf(bytes, from, originEnd(bytes, from, to), seed));
  }

  private addTag(into: RowKeys, bytes: Uint8Array, from: number, to: number): void {
    into.marks.add(hashOf(bytes, from, to, this.hashes.seedOf(into.namespace, 'tag')));
    into.marks.add(placesFrom + tagPlace(bytes, from, to));
  }

  /** The same by decoding, for a definition with fields that `DefinitionTexts` does not know. */
  private decode({ bytes, from, to }: IndexedRow, into: RowKeys): void {
    try {
      const { uri, tags, tagInfo } = decodeDefinition(bytes.subarray(from, to));
      const receiver = encoder.encode(uri);
      this.addReceiver(into, receiver, 0, receiver.length);
      for (const text of [...tags, ...tagInfo.map(({ type }) => type)]) {
        const tag = encoder.encode(text);
        this.addTag(into, tag, 0, tag.length);
      }
    } catch (error) {
      // A body that is no definition has no texts.
      if (!(error instanceof MalformedError)) throw error;
    }
  }
}
