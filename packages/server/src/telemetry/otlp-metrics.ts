/** The numbers of `/metrics`, under the same names → the JSON body of OTLP/HTTP `v1/metrics`. */
import type { HistogramReading, MetricReading, Reading } from '../metrics/prometheus.ts';
import { attributesOf, type Exporting, nanosOf, resourceOf } from './otlp-values.ts';

/** Of `AggregationTemporality`: since the start of the member. */
const cumulative = 2;

export interface Period {
  readonly startWallMs: number;
  readonly wallMs: number;
}

export function metricsBody(
  readings: readonly MetricReading[],
  exporting: Exporting,
  period: Period,
): string {
  const scope = { name: 'carillon', version: exporting.version };
  const metrics = readings.map((reading) => metricOf(reading, period));
  const scopeMetrics = [{ scope, metrics }];
  return JSON.stringify({ resourceMetrics: [{ resource: resourceOf(exporting), scopeMetrics }] });
}

function metricOf(metric: MetricReading, period: Period): object {
  const { name, help } = metric;
  const unit = unitOf(name);
  const head = { name, description: help, ...(unit !== null && { unit }) };
  if (metric.type === 'histogram') {
    const dataPoints = metric.histograms.map((one) => histogramPoint(one, period));
    return { ...head, histogram: { dataPoints, aggregationTemporality: cumulative } };
  }
  const dataPoints = metric.values.map((one) => point(one, period));
  if (metric.type === 'gauge') return { ...head, gauge: { dataPoints } };
  return { ...head, sum: { dataPoints, aggregationTemporality: cumulative, isMonotonic: true } };
}

function point({ labels, value }: Reading, period: Period): object {
  return { ...common(labels, period), asDouble: value };
}

/** Observed in milliseconds, told in seconds. */
function histogramPoint(
  { labels, boundsMs, counts, sumMs }: HistogramReading,
  period: Period,
): object {
  let count = 0;
  for (const one of counts) count += one;
  return {
    ...common(labels, period),
    count: String(count),
    sum: sumMs / 1000,
    bucketCounts: Array.from(counts, String),
    explicitBounds: Array.from(boundsMs, (bound) => bound / 1000),
  };
}

function common(labels: Readonly<Record<string, string>>, period: Period): object {
  return {
    attributes: attributesOf(Object.entries(labels)),
    startTimeUnixNano: nanosOf(period.startWallMs),
    timeUnixNano: nanosOf(period.wallMs),
  };
}

/** By the ends of names, as Prometheus has them. */
function unitOf(name: string): string | null {
  const bare = name.endsWith('_total') ? name.slice(0, -'_total'.length) : name;
  if (bare.endsWith('_seconds')) return 's';
  return bare.endsWith('_bytes') ? 'By' : null;
}
