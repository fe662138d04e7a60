import { settle, VirtualClock } from '@carillon/core/testing';
import { describe, expect, it } from 'vitest';
import { FakeOtlp } from '../testing/otlp.ts';
import { Exporter, pauseMs } from './exporter.ts';
import { nanosOf } from './otlp-values.ts';
import { SpanBuffer } from './span-buffer.ts';
import type { Span } from './span.ts';

const span: Span = {
  name: 'x',
  kind: 1,
  traceId: '1'.repeat(32),
  spanId: '2'.repeat(16),
  parentId: null,
  link: null,
  startMs: 1000.25,
  endMs: 1001.5,
  attributes: '',
  error: null,
};

function exporterOf() {
  const clock = new VirtualClock();
  const otlp = new FakeOtlp();
  const counts = { exported: 0, failed: 0, dropped: 0 };
  const events: string[] = [];
  const note = (_: string, { event }: { event: string }) => void events.push(event);
  const log = { debug() {}, error() {}, info: note, warn: note };
  const counted = (result: keyof typeof counts, count: number): void => {
    counts[result] += count;
  };
  const buffer = new SpanBuffer({
    countMax: 40,
    chunkCount: 10,
    onChunk: () => exporter.hurry(),
    onDropped: () => counted('dropped', 1),
  });
  const exporter: Exporter = new Exporter({
    clock,
    log,
    otlp,
    buffer,
    readMetrics: () => [
      { name: 'a_total', help: 'A.', type: 'counter', values: [{ labels: { x: 'y' }, value: 3 }] },
      {
        name: 'b_seconds',
        help: 'B.',
        type: 'histogram',
        histograms: [
          {
            labels: {},
            boundsMs: Float64Array.of(1, 2),
            counts: Float64Array.of(1, 0, 2),
            sumMs: 7,
          },
        ],
      },
    ],
    exporting: { member: 'm', cluster: 'c', version: '1' },
    intervalMs: 10_000,
    wallMs: () => clock.wall(),
    counted,
  });
  const add = (count: number): void => {
    for (let i = 0; i < count; i++) buffer.add(span);
  };
  return { clock, otlp, counts, events, buffer, exporter, add };
}

describe('an exporter', () => {
  it('sends few spans with the next round of metrics, and many soon', async () => {
    const { clock, otlp, counts, exporter, add } = exporterOf();
    exporter.start();
    add(3);
    await clock.advance(9000);
    expect(otlp.posts).toBe(0);
    await clock.advance(2000);
    expect([otlp.metrics.length, otlp.spans.length]).toEqual([1, 3]);
    add(25);
    await clock.advance(4 * pauseMs);
    expect([otlp.spans.length, counts.exported]).toEqual([23, 23]);
    await clock.advance(10_000);
    expect([otlp.spans.length, counts.exported]).toEqual([28, 28]);
  });

  it('makes no request for a few spans, also when they come all the time', async () => {
    const { clock, otlp, exporter, add } = exporterOf();
    exporter.start();
    add(10);
    for (let ms = 0; ms < 41_000; ms += pauseMs) {
      if (ms % 1500 === 0) add(1);
      await clock.advance(pauseMs);
    }
    // The first chunk, and in each of four rounds the metrics and the six or seven spans that came meanwhile.
    expect([otlp.metrics.length, otlp.posts]).toEqual([4, 9]);
    await clock.advance(10_000);
    expect(otlp.spans).toHaveLength(38);
  });

  it('makes one request at a time with a pause between two, and drops spans without room', async () => {
    const { clock, otlp, counts, exporter, add } = exporterOf();
    exporter.start();
    add(1000);
    expect(counts.dropped).toBe(960);
    await clock.advance(pauseMs);
    expect(otlp.spans).toHaveLength(10);
    await clock.advance(pauseMs);
    expect(otlp.spans).toHaveLength(20);
  });

  it('tries spans again that a collector may take later, five times in all', async () => {
    const { clock, otlp, counts, events, exporter, add } = exporterOf();
    exporter.start();
    otlp.answer = { status: 503, reason: 'The collector answered 503.' };
    add(10);
    await clock.advance(25_000);
    otlp.answer = { status: 200, reason: '' };
    await clock.advance(20_000);
    expect([otlp.spans.length, counts.failed]).toEqual([10, 0]);
    expect(events).toEqual(['telemetry-fails', 'telemetry-works']);
    otlp.answer = { status: 0, reason: 'refused' };
    add(10);
    await clock.advance(100_000);
    expect([otlp.spans.length, counts.failed]).toEqual([10, 10]);
  });

  it('does not try again where the collector says that it will never do', async () => {
    const { clock, otlp, counts, exporter, add } = exporterOf();
    exporter.start();
    otlp.answer = { status: 400, reason: 'The collector answered 400.' };
    add(10);
    await clock.advance(1000);
    expect([otlp.posts, counts.failed]).toEqual([1, 10]);
  });

  it('sends the rest when it stops, and waits no longer than it may', async () => {
    const { clock, otlp, exporter, add } = exporterOf();
    exporter.start();
    add(25);
    const stopped = exporter.stop(2000);
    await settle();
    await stopped;
    expect([otlp.spans.length, otlp.isClosed]).toEqual([25, true]);
    await clock.advance(60_000);
    expect(otlp.metrics).toHaveLength(0);
  });

  it('tells metrics under their names, durations in seconds', async () => {
    const { clock, otlp, exporter } = exporterOf();
    exporter.start();
    await clock.advance(11_000);
    const [body = ''] = otlp.metrics;
    const [{ scopeMetrics }] = (
      JSON.parse(body) as { resourceMetrics: [{ scopeMetrics: [{ metrics: unknown[] }] }] }
    ).resourceMetrics;
    expect(scopeMetrics[0].metrics).toMatchObject([
      {
        name: 'a_total',
        sum: {
          isMonotonic: true,
          aggregationTemporality: 2,
          dataPoints: [{ asDouble: 3, attributes: [{ key: 'x', value: { stringValue: 'y' } }] }],
        },
      },
      {
        name: 'b_seconds',
        unit: 's',
        histogram: {
          dataPoints: [
            {
              count: '3',
              sum: 0.007,
              bucketCounts: ['1', '0', '2'],
              explicitBounds: [0.001, 0.002],
            },
          ],
        },
      },
    ]);
  });
});

it.each([
  [1_700_000_000_000, '1700000000000000000'],
  [1_700_000_000_000.25, '1700000000000250000'],
  [1_700_000_000_000.75, '1700000000000750000'],
])('%d ms are %s ns', (ms, nanos) => {
  expect(Math.abs(Number(BigInt(nanosOf(ms)) - BigInt(nanos)))).toBeLessThan(200);
});
