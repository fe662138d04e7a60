/** Spans → the JSON body of OTLP/HTTP `v1/traces`. */
import { spanIdOf, traceIdOf } from '@carillon/core';
import { attributesOf, type Exporting, nanosOf, resourceOf } from './otlp-values.ts';
import type { Span } from './span.ts';

/** Of `Status.code`. */
const statusError = 2;

export function tracesBody(spans: readonly Span[], exporting: Exporting): string {
  const scope = { name: 'carillon', version: exporting.version };
  const scopeSpans = [{ scope, spans: spans.map(spanOf) }];
  return JSON.stringify({ resourceSpans: [{ resource: resourceOf(exporting), scopeSpans }] });
}

function spanOf(span: Span): object {
  const { traceId, spanId, parentId, link, name, kind, error } = span;
  return {
    traceId,
    spanId,
    ...(parentId !== null && { parentSpanId: parentId }),
    name,
    kind,
    startTimeUnixNano: nanosOf(span.startMs),
    endTimeUnixNano: nanosOf(span.endMs),
    attributes: attributesOf(span.attributes),
    ...(link !== null && { links: [{ traceId: traceIdOf(link), spanId: spanIdOf(link) }] }),
    ...(error !== null && { status: { code: statusError, message: error } }),
  };
}
