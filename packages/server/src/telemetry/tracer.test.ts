import { encodeDefinition, type Random, State } from '@carillon/core';
import { SeededRandom, VirtualClock } from '@carillon/core/testing';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../testing/one-member.ts';
import { FakeOtlp } from '../testing/otlp.ts';
import { definitionOf, recordOf } from '../testing/records.ts';
import { SpanBuffer } from './span-buffer.ts';
import { type Span, type SpanPlace, spanKind } from './span.ts';
import { Telemetry } from './telemetry.ts';
import { type TraceName, Tracer } from './tracer.ts';

const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const end = { name: 'x', kind: spanKind.internal, attributes: '', error: null, endMs: 2 } as const;

const beginning = { always: false, link: null, nowMs: 1 };

function named(text: string): TraceName {
  return { text, versionMs: 1_700_000_000_000, versionTie: 0, sequence: 1 };
}

function tracerOf(countMax: number, random: Random = new SeededRandom(1), sampleRatio = 1) {
  let dropped = 0;
  const buffer = new SpanBuffer({
    countMax,
    chunkCount: 1000,
    onChunk: () => undefined,
    onDropped: () => dropped++,
  });
  const tracer = new Tracer({ random, buffer, sampleRatio, distanceMs: () => 1000 });
  return { tracer, buffer, dropped: () => dropped };
}

describe('a tracer', () => {
  it('begins no trace where three quarters of the room are taken, and goes on with traces that began', () => {
    const { tracer, buffer, dropped } = tracerOf(8);
    const filled = (parent: string | null): number => {
      let count = 0;
      for (let place = tracer.begin(parent, 1); place !== null; place = tracer.begin(parent, 1)) {
        tracer.end(place, end);
        count++;
      }
      return count;
    };
    expect([filled(null), filled(trace), buffer.count]).toEqual([6, 2, 8]);
    expect(tracer.beginNamed(named('a'), { ...beginning, again: false })).toBe(null);
    expect(dropped()).toBe(3);
  });

  it('gives no identifier of zeros, and keeps the order of times', () => {
    const { tracer, buffer } = tracerOf(8, { u32: () => 0, unit: () => 0 });
    const place = tracer.begin(null, 5) as SpanPlace;
    tracer.end(place, end);
    const [span] = buffer.take() as Span[];
    expect([span?.traceId, span?.spanId]).toEqual([`${'0'.repeat(31)}1`, `${'0'.repeat(15)}1`]);
    expect([span?.startMs, span?.endMs]).toEqual([1005, 1005]);
  });

  it('compares the clocks once a second', () => {
    let [distanceMs, compared] = [1000, 0];
    const tracer = new Tracer({
      random: new SeededRandom(1),
      buffer: { add() {}, drop() {}, isCrowded: false, isFull: false },
      sampleRatio: 1,
      distanceMs: () => {
        compared++;
        return distanceMs;
      },
    });
    expect(tracer.begin(null, 5)?.startMs).toBe(1005);
    distanceMs = 3000;
    expect(tracer.begin(null, 1004)?.startMs).toBe(2004);
    expect(tracer.begin(null, 1005)?.startMs).toBe(4005);
    expect(tracer.begin(null, 6)?.startMs).toBe(3006);
    expect(compared).toBe(2);
  });

  it('names a trace alike at every member', () => {
    const [one, two] = [tracerOf(8), tracerOf(8, new SeededRandom(2))];
    const first = one.tracer.beginNamed(named('timer 1'), { ...beginning, again: false });
    const retry = two.tracer.beginNamed(named('timer 1'), { ...beginning, again: true });
    expect(retry?.traceId).toBe(first?.traceId);
    expect(retry?.parentId).toBe(first?.spanId);
    const other = two.tracer.beginNamed(named('timer 2'), { ...beginning, again: false });
    expect(other?.traceId).not.toBe(first?.traceId);
  });

  it.each([
    ['of timers', (i: number) => named(`${i}`)],
    ['of versions', (i: number) => ({ ...named('a'), versionMs: 1_700_000_000_000 + i })],
    ['of ties', (i: number) => ({ ...named('a'), versionTie: i })],
    ['of pops', (i: number) => ({ ...named('a'), sequence: i })],
  ])('records a share of the names %s, by the last eight digits of the trace id', (_, nameOf) => {
    const all = tracerOf(100_000).tracer;
    const { tracer, dropped } = tracerOf(100_000, new SeededRandom(1), 0.1);
    const names = Array.from({ length: 4000 }, (__, i) => nameOf(i));
    const first = { ...beginning, again: false };
    const ids = names.map((name) => (all.beginNamed(name, first) as SpanPlace).traceId);
    const isIn = (id: string) => Number.parseInt(id.slice(24), 16) < 0.1 * 2 ** 32;
    const recorded = names.map((name) => tracer.beginNamed(name, first)?.traceId ?? null);
    expect(recorded).toEqual(ids.map((id) => (isIn(id) ? id : null)));
    const always = names.map((name) => tracer.beginNamed(name, { ...first, always: true }));
    expect(always.map((place) => place?.traceId)).toEqual(ids);
    expect(Math.abs(ids.filter(isIn).length / ids.length - 0.1)).toBeLessThan(0.02);
    expect(dropped()).toBe(0);
  });

  it('draws once for each trace that is recorded, and each is recorded by the chance of the ratio', () => {
    const seeded = new SeededRandom(7);
    let draws = 0;
    const unit = (): number => {
      draws++;
      return seeded.unit();
    };
    const { tracer } = tracerOf(100_000, { u32: () => seeded.u32(), unit }, 0.1);
    const recorded = Array.from({ length: 40_000 }, () => tracer.begin(null, 1) !== null);
    const count = recorded.filter(Boolean).length;
    expect(draws).toBe(count + 1);
    expect(Math.abs(count / recorded.length - 0.1)).toBeLessThan(0.01);
    const again = recorded.filter((is, i) => is && recorded[i - 1]).length;
    expect(Math.abs(again / count - 0.1)).toBeLessThan(0.02);
  });

  it.each([
    [0, 0],
    [1, 1000],
  ])('with a ratio of %d it records %d of a thousand, whatever is drawn', (ratio, expected) => {
    for (const drawn of [0, 0.5, 1 - 2 ** -32]) {
      const { tracer } = tracerOf(10_000, { u32: () => 1, unit: () => drawn }, ratio);
      const places = Array.from({ length: 1000 }, () => tracer.begin(null, 1));
      expect(places.filter((place) => place !== null)).toHaveLength(expected);
    }
  });

  it('counts no trace as dropped that is not in the share', () => {
    const { tracer, buffer, dropped } = tracerOf(8, new SeededRandom(1), 0.001);
    while (!buffer.isFull) tracer.end(tracer.begin(trace, 1) as SpanPlace, end);
    for (let i = 0; i < 1000; i++) {
      tracer.beginNamed(named(`${i}`), { ...beginning, again: false });
    }
    expect(dropped()).toBeLessThan(10);
  });
});

describe('a write at a replica', () => {
  const clock = new VirtualClock();
  const telemetry = new Telemetry({
    clock,
    random: new SeededRandom(3),
    log: silentLog,
    otlp: new FakeOtlp(),
    sampleRatio: 1,
    intervalMs: 1000,
    wallMs: () => clock.wall(),
    distanceMs: () => 0,
    exporting: { member: 'm', cluster: 'c', version: '1' },
    idOf: () => 'id',
    readMetrics: () => [],
    counted: () => undefined,
  });
  const body = encodeDefinition(definitionOf({ trace }));
  const fresh = recordOf({ startMs: clock.now(), body });
  const unsampled = encodeDefinition(definitionOf({ trace: `${trace.slice(0, -2)}00` }));
  const done = (): void => undefined;

  it.each([
    ['of a client that records', fresh, true],
    ['of a timer that has popped', { ...fresh, sequence: 1 }, false],
    ['of a pop that is tried again', { ...fresh, attempt: 1 }, false],
    ['of an end', { ...fresh, state: State.tombstone }, false],
    ['by repair, long after the set', { ...fresh, startMs: clock.now() - 20_000 }, false],
    ['of a client that does not record', { ...fresh, body: unsampled }, false],
    ['without a trace', recordOf({ startMs: clock.now() }), false],
  ])('%s', (_, record, isRecorded) => {
    expect(telemetry.replicating(record, done) !== done).toBe(isRecorded);
  });
});
