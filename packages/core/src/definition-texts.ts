/**
 * Where the uri and the tags of a definition are in its bytes, without decoding the rest: an index looks at every
 * record that is stored, and a decoded definition is forty times as dear.
 */
import { tag } from './definition.ts';
import { traceBytes } from './traceparent.ts';

/** Bytes of a field behind its tag, where that is always the same number. */
const fixedBytes = new Map<number, number>([
  [tag.interval, 8],
  [tag.at, 8],
  [tag.repeatFor, 8],
  [tag.until, 8],
  [tag.count, 8],
  [tag.forever, 0],
  [tag.timeout, 8],
  [tag.retry, 32],
  [tag.idempotent, 0],
  [tag.batch, 0],
  [tag.cloudEvents, 0],
  [tag.trace, traceBytes],
]);
/** Between the two texts of an origin. */
const originBytes = 32;
/** By field tag: its bytes, or −1 for a field that is looked at. */
const lengths = Int8Array.from({ length: 256 }, (_, name) => fixedBytes.get(name) ?? -1);

export class DefinitionTexts {
  uriFrom = 0;
  uriTo = 0;
  tagCount = 0;
  /** From and to of each tag, and of each type in `statistics.tag-info`. */
  readonly tags: number[] = [];
  private at = 0;

  /**
   * Reads bytes[from, to). False where a field is met that this file does not know: then `decodeDefinition` must be
   * asked. The bytes come from `encodeDefinition`.
   */
  read(bytes: Uint8Array, from: number, to: number): boolean {
    this.at = from;
    this.tagCount = 0;
    this.uriFrom = 0;
    this.uriTo = 0;
    while (this.at < to) {
      const name = bytes[this.at++] as number;
      if (name === tag.end) return true;
      const length = lengths[name] as number;
      if (length >= 0) this.at += length;
      else if (!this.texts(name, bytes)) return false;
    }
    return false;
  }

  private texts(name: number, bytes: Uint8Array): boolean {
    const length = this.varint(bytes);
    const from = this.at;
    this.at += length;
    switch (name) {
      case tag.uri:
        this.uriFrom = from;
        this.uriTo = this.at;
        return true;
      case tag.tag:
      case tag.tagInfo:
        this.tags[this.tagCount * 2] = from;
        this.tags[this.tagCount * 2 + 1] = this.at;
        this.tagCount++;
        if (name === tag.tagInfo) this.at += 8;
        return true;
      case tag.header:
        this.skipText(bytes);
        return true;
      case tag.cron:
      case tag.timezone:
      case tag.opaque:
      case tag.method:
      case tag.onFailure:
      case tag.event:
        return true;
      case tag.origin:
        this.at += originBytes;
        this.skipText(bytes);
        this.at += 8;
        return true;
      default:
        return false;
    }
  }

  private skipText(bytes: Uint8Array): void {
    const length = this.varint(bytes);
    this.at += length;
  }

  private varint(bytes: Uint8Array): number {
    let byte = bytes[this.at++] as number;
    let value = byte & 127;
    for (let unit = 128; byte > 127; unit *= 128) {
      byte = bytes[this.at++] as number;
      value += (byte & 127) * unit;
    }
    return value;
  }
}
