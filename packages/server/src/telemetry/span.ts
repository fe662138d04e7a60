/**
 * A span: one piece of work of one member, with the trace it belongs to. Times are wall-clock milliseconds, with
 * fractions.
 */

/** Numbers of OTLP. */
export const spanKind = { internal: 1, server: 2, client: 3 } as const;

/** The place of a span in its trace, known before its work is done. */
export interface SpanPlace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** null: the first of its trace. */
  readonly parentId: string | null;
  /** The span of another trace that this one came of, as `traceparent`; null: none. */
  readonly link: string | null;
  readonly startMs: number;
}

export interface Span extends SpanPlace {
  readonly name: string;
  readonly kind: (typeof spanKind)[keyof typeof spanKind];
  readonly endMs: number;
  /** As `attributesText` writes them. */
  readonly attributes: string;
  /** Why the work failed, in words; null: it did not. */
  readonly error: string | null;
}

/** The `traceparent` of work that this span asks others for. */
export function contextOf({ traceId, spanId }: Pick<SpanPlace, 'traceId' | 'spanId'>): string {
  return `00-${traceId}-${spanId}-01`;
}
