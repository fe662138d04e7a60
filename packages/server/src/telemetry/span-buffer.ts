/**
 * Spans that wait for their export. Bounded: a span that finds no room is dropped and counted. New traces are begun
 * only while a quarter of the room is free, so that a trace that has begun is mostly whole.
 */
import type { Span } from './span.ts';

export interface SpanBufferOptions {
  readonly countMax: number;
  /** So many are worth an export of their own. */
  readonly chunkCount: number;
  /** A chunk is full. */
  readonly onChunk: () => void;
  /** A span found no room, or a trace was not begun for want of it. */
  readonly onDropped: () => void;
}

export class SpanBuffer {
  private readonly options: SpanBufferOptions;
  private spans: Span[] = [];

  constructor(options: SpanBufferOptions) {
    this.options = options;
  }

  get count(): number {
    return this.spans.length;
  }

  get hasChunk(): boolean {
    return this.spans.length >= this.options.chunkCount;
  }

  get isFull(): boolean {
    return this.spans.length >= this.options.countMax;
  }

  get isCrowded(): boolean {
    return this.spans.length * 4 >= this.options.countMax * 3;
  }

  add(span: Span): void {
    if (this.isFull) return this.drop();
    this.spans.push(span);
    if (this.spans.length === this.options.chunkCount) this.options.onChunk();
  }

  drop(): void {
    this.options.onDropped();
  }

  /** The oldest ones, a chunk at most. */
  take(): readonly Span[] {
    const { chunkCount } = this.options;
    if (this.spans.length <= chunkCount) {
      const all = this.spans;
      this.spans = [];
      return all;
    }
    return this.spans.splice(0, chunkCount);
  }
}
