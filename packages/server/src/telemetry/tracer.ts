/**
 * Decides which work is recorded, and gives spans their places. Work that belongs to a trace of its caller is recorded where
 * the caller records; of the traces that begin here a share is, `sampleRatio`. Identifiers come from the random port, or
 * follow from a text that all members know.
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

export class Tracer {
  private readonly parts: TracerParts;

  constructor(parts: TracerParts) {
    this.parts = parts;
  }

  /**
   * A span below `parent`, a `traceparent`; the first of a new trace where that is null. `nowMs`: its beginning, monotonic. null:
   * it is not recorded.
   */
  begin(parent: string | null, nowMs: number): SpanPlace | null {
    const { random, buffer, sampleRatio } = this.parts;
    const startMs = this.wallMs(nowMs);
    if (parent === null) {
      if (random.unit() >= sampleRatio || !this.hasRoom(buffer.isCrowded)) return null;
      const traceId = this.hex(4);
      return { traceId, spanId: this.hex(2), parentId: null, link: null, startMs };
    }
    if (!isSampled(parent) || !this.hasRoom(buffer.isFull)) return null;
    const [traceId, parentId] = [traceIdOf(parent), spanIdOf(parent)];
    return { traceId, spanId: this.hex(2), parentId, link: null, startMs };
  }

  /**
   * The first span of a trace that all members name alike: its identifiers follow from `text`, and so does whether it is recorded.
   * `again`: that span was made before, and this one is below it.
   */
  beginNamed(
    text: string,
    { again, link, nowMs }: { again: boolean; link: string | null; nowMs: number },
  ): SpanPlace | null {
    const { buffer, sampleRatio } = this.parts;
    if (sampleRatio === 0 || !this.hasRoom(buffer.isCrowded)) return null;
    const digits = hash('sha256', text, 'hex');
    const traceId = digits.slice(0, 32);
    if (Number.parseInt(traceId.slice(24), 16) >= sampleRatio * 2 ** 32) return null;
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

  private wallMs(nowMs: number): number {
    return nowMs + this.parts.distanceMs();
  }

  private hasRoom(isFull: boolean): boolean {
    if (isFull) this.parts.buffer.drop();
    return !isFull;
  }

  /** So many times eight digits, not all of them zero. */
  private hex(words: number): string {
    const { random } = this.parts;
    let text = '';
    let bits = 0;
    for (let i = 0; i < words; i++) {
      const word = random.u32();
      bits |= word;
      text += `${pairs[word >>> 24]}${pairs[(word >>> 16) & 255]}${pairs[(word >>> 8) & 255]}${pairs[word & 255]}`;
    }
    return bits === 0 ? `${text.slice(1)}1` : text;
  }
}

/** Two digits for each byte: identifiers are made of them. */
const pairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
