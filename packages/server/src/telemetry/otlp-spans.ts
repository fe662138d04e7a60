/**
 * Spans → the JSON body of OTLP/HTTP `v1/traces`. Spans are written by hand, because there are many: identifiers and
 * numbers need no escaping, and objects made only to be written cost twice as much.
 */
import { spanIdOf, traceIdOf } from '@carillon/core';
import { type Exporting, nanosOf, resourceOf } from './otlp-values.ts';
import type { Span } from './span.ts';

/** Of `Status.code`. */
const statusError = 2;

export function tracesBody(spans: readonly Span[], exporting: Exporting): string {
  const scope = JSON.stringify({ name: 'carillon', version: exporting.version });
  const resource = JSON.stringify(resourceOf(exporting));
  let written = '';
  for (const span of spans) written += written === '' ? spanText(span) : `,${spanText(span)}`;
  const scopeSpans = `[{"scope":${scope},"spans":[${written}]}]`;
  return `{"resourceSpans":[{"resource":${resource},"scopeSpans":${scopeSpans}}]}`;
}

function spanText(span: Span): string {
  const { traceId, spanId, parentId, link, name, kind, error } = span;
  const parent = parentId === null ? '' : `,"parentSpanId":"${parentId}"`;
  const times = `"startTimeUnixNano":"${nanosOf(span.startMs)}","endTimeUnixNano":"${nanosOf(span.endMs)}"`;
  const links =
    link === null ? '' : `,"links":[{"traceId":"${traceIdOf(link)}","spanId":"${spanIdOf(link)}"}]`;
  const status =
    error === null ? '' : `,"status":{"code":${statusError},"message":${JSON.stringify(error)}}`;
  return `{"traceId":"${traceId}","spanId":"${spanId}"${parent},"name":"${name}","kind":${kind},${times},"attributes":[${span.attributes}]${links}${status}}`;
}
