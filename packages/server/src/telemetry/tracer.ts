/**
 * Decides which work is recorded, and gives spans their places. Work that belongs to a trace of its caller is recorded
 * where the caller records; of the traces that begin here a share is, `sampleRatio`. Identifiers come from the random
 * port, or follow from a name that all members know. The decision comes first, and costs next to nothing where it is
 * no: how many traces are passed over is drawn once for each that is recorded, not once for each.
 */
import { hash } from 'node:crypto';
import { isSampled, type Random, spanIdOf, traceIdOf } from '@carillon/core';
import type { Span, SpanPlace } from './span.ts';
import type { SpanBuffer } from './span-buffer.ts';

export interface TracerParts {
  readonly random: Random;
  readonly buffer: Pick<SpanBuffer, 'add' | 'drop' | 'isCrowded' | 'isFull'>;
  /** From 0 to 1. */
  readonly sampleRatio: number;
  /** From the monotonic to the wall clock. */
  readonly distanceMs: () => number;
}

/** The rest of a span, known when its work is done. Monotonic milliseconds. */
export type SpanEnd = Pick<Span, 'name' | 'kind' | 'attributes' | 'error'> & {
  readonly endMs: number;
};

/** By which all members know a piece of work. */
export interface TraceName {
  readonly text: string;
  readonly versionMs: number;
  readonly versionTie: number;
  readonly sequence: number;
}

export interface NamedBeginning {
  /** It is recorded at any sample ratio. */
  readonly always: boolean;
  /** The first span was made before, and this one is below it. */
  readonly again: boolean;
  readonly link: string | null;
  readonly nowMs: number;
}

const compareMs = 1000;

export class Tracer {
  private readonly parts: TracerParts;
  /** Traces that begin here and are not recorded, before the next one that is. */
  private toPassOver: number;
  private comparedMs = Number.NaN;
  private distanceMs = 0;

  constructor(parts: TracerParts) {
    this.parts = parts;
    this.toPassOver = this.gap();
  }

  /**
   * A span below `parent`, a `traceparent`; the first of a new trace where that is null. `nowMs`: its beginning,
   * monotonic. null: it is not recorded.
   */
  begin(parent: string | null, nowMs: number): SpanPlace | null {
    return this.decide(parent) ? this.place(parent, nowMs) : null;
  }

  /** Whether a span below `parent` is recorded; to be asked once for each, and before the clock is. */
  decide(parent: string | null): boolean {
    const { buffer } = this.parts;
    if (parent !== null) return isSampled(parent) && this.hasRoom(buffer.isFull);
    if (this.toPassOver > 0) {
      this.toPassOver--;
      return false;
    }
    this.toPassOver = this.gap();
    return this.hasRoom(buffer.isCrowded);
  }

  /** The place of a span that is recorded. */
  place(parent: string | null, nowMs: number): SpanPlace {
    const startMs = this.wallMs(nowMs);
    if (parent === null) {
      const [traceId, spanId] = [this.hex(4), this.hex(2)];
      return { traceId, spanId, parentId: null, link: null, startMs };
    }
    const [traceId, parentId] = [traceIdOf(parent), spanIdOf(parent)];
    return { traceId, spanId: this.hex(2), parentId, link: null, startMs };
  }

  /**
   * The first span of a trace that all members name alike: its identifiers follow from the name, and so does whether it
   * is recorded, by the last 32 bits of the trace id. Most are not: these bits alone come of a hash that costs little.
   */
  beginNamed(name: TraceName, { always, again, link, nowMs }: NamedBeginning): SpanPlace | null {
    const { buffer, sampleRatio } = this.parts;
    const share = shareOf(name);
    if (!always && share >= sampleRatio * 2 ** 32) return null;
    if (!this.hasRoom(buffer.isCrowded)) return null;
    const { text, versionMs, versionTie, sequence } = name;
    const digits = hash('sha256', `${text} ${versionMs}.${versionTie} ${sequence}`, 'hex');
    const traceId = digits.slice(0, 24) + wordHex(share);
    const firstId = digits.slice(32, 48);
    const startMs = this.wallMs(nowMs);
    if (!again) return { traceId, spanId: firstId, parentId: null, link, startMs };
    return { traceId, spanId: this.hex(2), parentId: firstId, link, startMs };
  }

  /** A span below another one of this member. */
  below({ traceId, spanId: parentId }: SpanPlace, nowMs: number): SpanPlace {
    return { traceId, spanId: this.hex(2), parentId, link: null, startMs: this.wallMs(nowMs) };
  }

  end(place: SpanPlace, { name, kind, attributes, error, endMs }: SpanEnd): void {
    const { traceId, spanId, parentId, link, startMs } = place;
    this.parts.buffer.add({
      traceId,
      spanId,
      parentId,
      link,
      startMs,
      name,
      kind,
      attributes,
      error,
      endMs: Math.max(startMs, this.wallMs(endMs)),
    });
  }

  /** The clocks are compared once a second, not twice for each span. */
  private wallMs(nowMs: number): number {
    if (!(Math.abs(nowMs - this.comparedMs) < compareMs)) {
      this.comparedMs = nowMs;
      this.distanceMs = this.parts.distanceMs();
    }
    return nowMs + this.distanceMs;
  }

  private hasRoom(isFull: boolean): boolean {
    if (isFull) this.parts.buffer.drop();
    return !isFull;
  }

  /**
   * How many traces lie between two that are recorded, so that each is by a chance of `sampleRatio`, whichever came
   * before. Example: with a ratio of 0.01, none by a chance of 1 %, more than 68 by one of a half.
   */
  private gap(): number {
    const { random, sampleRatio } = this.parts;
    if (sampleRatio >= 1) return 0;
    if (sampleRatio <= 0) return Number.POSITIVE_INFINITY;
    return Math.floor(Math.log(1 - random.unit()) / Math.log1p(-sampleRatio));
  }

  /** So many times eight digits, not all of them zero. */
  private hex(words: number): string {
    const { random } = this.parts;
    let text = '';
    let bits = 0;
    for (let i = 0; i < words; i++) {
      const word = random.u32();
      bits |= word;
      text += wordHex(word);
    }
    return bits === 0 ? `${text.slice(1)}1` : text;
  }
}

/** Two digits for each byte: identifiers are made of them. */
const pairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Eight digits. */
function wordHex(word: number): string {
  return `${pairs[word >>> 24]}${pairs[(word >>> 16) & 255]}${pairs[(word >>> 8) & 255]}${pairs[word & 255]}`;
}

/** 32 bits that follow from the name, spread evenly over names that differ. */
function shareOf({ text, versionMs, versionTie, sequence }: TraceName): number {
  let mixed = 0x811c9dc5 | 0;
  for (let i = 0; i < text.length; i++) {
    mixed = Math.imul(mixed ^ text.charCodeAt(i), 0x01000193);
  }
  mixed = mix(mix(mix(mixed, versionMs), versionTie), sequence);
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function mix(mixed: number, word: number): number {
  const product = Math.imul(mixed ^ word, 0x85ebca6b);
  return product ^ (product >>> 13);
}
