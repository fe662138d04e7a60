/** Decodes the requests that a collector receives: for tests of telemetry. */
import type { Otlp, OtlpAnswer } from '../telemetry/exporter.ts';

export interface DecodedSpan {
  readonly member: string;
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  /** Trace and span of each link. */
  readonly links: readonly string[];
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly error: string | null;
}

interface Value {
  readonly stringValue?: string;
  readonly intValue?: string;
  readonly doubleValue?: number;
}

type KeyValues = readonly { readonly key: string; readonly value: Value }[];

interface TracesBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: KeyValues };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly name: string;
        readonly kind: number;
        readonly startTimeUnixNano: string;
        readonly endTimeUnixNano: string;
        readonly attributes: KeyValues;
        readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
        readonly status?: { readonly code: number; readonly message?: string };
      }[];
    }[];
  }[];
}

/** The spans of a request to `/v1/traces`. */
export function decodeSpans(body: string): DecodedSpan[] {
  const { resourceSpans } = JSON.parse(body) as TracesBody;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const member = String(valuesOf(resource.attributes)['service.instance.id']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        member,
        name: span.name,
        kind: span.kind,
        traceId: span.traceId,
        spanId: span.spanId,
        parentId: span.parentSpanId ?? null,
        links: (span.links ?? []).map(({ traceId, spanId }) => `${traceId}-${spanId}`),
        startMs: Number(span.startTimeUnixNano) / 1e6,
        endMs: Number(span.endTimeUnixNano) / 1e6,
        attributes: valuesOf(span.attributes),
        error: span.status?.code === 2 ? (span.status.message ?? '') : null,
      })),
    );
  });
}

function valuesOf(attributes: KeyValues): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? (doubleValue ?? Number.NaN) : Number(intValue)),
    ]),
  );
}

/** A collector in memory. */
export class FakeOtlp implements Otlp {
  readonly spans: DecodedSpan[] = [];
  readonly metrics: string[] = [];
  answer: OtlpAnswer = { status: 200, reason: '' };
  posts = 0;
  isClosed = false;

  post(path: string, body: string, done: (answer: OtlpAnswer) => void): void {
    this.posts++;
    const { answer } = this;
    if (answer.status === 200 && path === '/v1/metrics') this.metrics.push(body);
    else if (answer.status === 200) this.spans.push(...decodeSpans(body));
    queueMicrotask(() => done(answer));
  }

  close(): void {
    this.isClosed = true;
  }
}
