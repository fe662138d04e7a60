/** Spans of a whole member, as a collector gets them. */
import { expect, it } from 'vitest';
import { defaultConfig } from '../config/config.ts';
import { header, startOne, timerBody } from '../testing/one-member.ts';
import { type DecodedSpan, FakeOtlp } from '../testing/otlp.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const clientSpan = 'b7ad6b7169203331';
const sampled = { traceparent: `00-${traceId}-${clientSpan}-01` };
const minute = 60_000;

async function startTraced(sampleRatio = 1) {
  const otlp = new FakeOtlp();
  const telemetry = { ...defaultConfig.telemetry, sampleRatio };
  const one = await startOne({ config: { telemetry }, more: () => ({ otlp }) });
  const named = (name: string): DecodedSpan[] => otlp.spans.filter((span) => span.name === name);
  return { ...one, stop: () => one.stop(), otlp, named };
}

it('a timer that pops once and soon has all its spans in the trace of the client', async () => {
  const { request, clock, receivers, named, otlp, stop } = await startTraced();
  const body = timerBody(10, { uri: 'http://receiver.test/secret?token=secret' });
  const set = await request('POST', '/timers', body, sampled);
  await clock.advance(minute);
  expect(otlp.spans.map(({ name }) => name)).toEqual(['set', 'callback', 'pop']);
  expect(new Set(otlp.spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  const [[setSpan], [pop], [callback]] = [named('set'), named('pop'), named('callback')];
  expect([setSpan?.parentId, pop?.parentId, callback?.parentId]).toEqual([
    clientSpan,
    setSpan?.spanId,
    pop?.spanId,
  ]);
  expect([setSpan?.kind, pop?.kind, callback?.kind]).toEqual([2, 1, 3]);
  expect(receivers.calls[0]?.request.headers).toMatchObject({
    traceparent: `00-${traceId}-${callback?.spanId}-01`,
  });
  const id = (header(set, 'location') ?? '').slice('/timers/'.length);
  expect(setSpan?.attributes).toMatchObject({ 'carillon.timer.id': id, 'carillon.copies.have': 1 });
  expect(callback?.attributes).toEqual({
    'carillon.timer.id': id,
    'carillon.timer.sequence': 1,
    'carillon.timer.attempt': 1,
    'http.request.method': 'POST',
    'url.full': 'http://receiver.test/REDACTED',
    'server.address': 'receiver.test',
    'server.port': 80,
    'http.response.status_code': 200,
  });
  expect(JSON.stringify(otlp.spans)).not.toContain('secret');
  expect(pop?.attributes).toMatchObject({ 'carillon.pop.outcome': 'delivered' });
  expect((pop?.startMs ?? 0) - (setSpan?.startMs ?? 0)).toBeCloseTo(10_000, -1);
  await stop();
  expect(otlp.isClosed).toBe(true);
});

it('each pop of a recurring timer has a trace of its own, which links to the set', async () => {
  const { request, clock, receivers, named, stop } = await startTraced();
  await request('POST', '/timers', timerBody(10, { repeatFor: 30 }), sampled);
  await clock.advance(minute);
  const [set] = named('set');
  const pops = named('pop');
  expect(pops).toHaveLength(3);
  for (const pop of pops) {
    expect(pop.links).toEqual([`${traceId}-${set?.spanId}`]);
    expect(pop.parentId).toBe(null);
  }
  expect(new Set([traceId, ...pops.map((pop) => pop.traceId)]).size).toBe(4);
  const carried = receivers.calls.map((call) => call.request.headers['traceparent']?.slice(3, 35));
  expect(carried).toEqual(pops.map((pop) => pop.traceId));
  const pointed = receivers.calls.map((call) => call.request.headers['x-timer-trace']);
  expect(new Set(pointed)).toEqual(new Set([`00-${traceId}-${set?.spanId}-01`]));
  await stop();
});

it('all attempts of one pop belong to one trace, and say what went wrong', async () => {
  const { request, clock, receivers, named, stop } = await startTraced();
  let calls = 0;
  receivers.script = () => (++calls < 3 ? 503 : 200);
  await request('POST', '/timers', timerBody(700));
  await clock.advance(30 * minute);
  const pops = named('pop');
  const told = pops.map(({ attributes: { 'carillon.pop.outcome': outcome }, error }) => [
    outcome,
    error,
  ]);
  expect(told).toEqual([
    ['retry', 'The receiver answered 503.'],
    ['retry', 'The receiver answered 503.'],
    ['delivered', null],
  ]);
  expect(new Set(pops.map((pop) => pop.traceId)).size).toBe(1);
  const [first, ...others] = pops;
  expect(first?.parentId).toBe(null);
  expect(new Set(others.map((pop) => pop.parentId))).toEqual(new Set([first?.spanId]));
  expect(named('callback')[1]?.attributes).toMatchObject({
    'http.response.status_code': 503,
    'error.type': '503',
    'http.request.resend_count': 1,
  });
  await stop();
});

it('a client that does not record is not recorded, and its trace goes on to the callback as it came', async () => {
  const { request, clock, receivers, otlp, stop } = await startTraced();
  const traceparent = `00-${traceId}-${clientSpan}-00`;
  await request('POST', '/timers', timerBody(10), { traceparent });
  await clock.advance(minute);
  expect(otlp.spans).toEqual([]);
  expect(receivers.calls[0]?.request.headers).toMatchObject({ traceparent });
  await stop();
});

it('with a ratio of 0 no trace begins at a member, and those of clients are recorded', async () => {
  const { request, clock, named, stop } = await startTraced(0);
  await request('POST', '/timers', timerBody(10));
  await request('POST', '/timers', timerBody(10, { repeatFor: 20 }), sampled);
  await clock.advance(minute);
  expect([named('set').length, named('pop').length]).toEqual([1, 0]);
  await stop();
});

it('the one pop of a recorded set is recorded whatever the ratio, also when it comes late', async () => {
  const { request, clock, named, stop } = await startTraced(0);
  const unsampled = { traceparent: `00-${traceId}-${clientSpan}-00` };
  await request('POST', '/timers', timerBody(660), sampled);
  await request('POST', '/timers', timerBody(660), unsampled);
  await clock.advance(12 * minute);
  const [set] = named('set');
  expect(named('pop').map((pop) => [pop.parentId, pop.links])).toEqual([
    [null, [`${traceId}-${set?.spanId}`]],
  ]);
  await stop();
});

it('a ratio records about that share of sets and of pops, and both or none of the attempts of a pop', async () => {
  const { request, clock, named, stop } = await startTraced(0.25);
  const items = Array.from({ length: 400 }, () => timerBody(10, { repeatFor: 20 }));
  await request('POST', '/timers/batch', items);
  await clock.advance(minute);
  for (const [name, all] of [
    ['set', 400],
    ['pop', 800],
  ] as const) {
    const share = named(name).length / all;
    expect(share, name).toBeGreaterThan(0.15);
    expect(share, name).toBeLessThan(0.35);
  }
  await stop();
});

it('each change of a batch has a span below the one that it names', async () => {
  const { request, clock, named, stop } = await startTraced();
  const other = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
  await request(
    'POST',
    '/timers/batch',
    [timerBody(10), { change: 'set', timer: timerBody(10), traceparent: other }],
    sampled,
  );
  await clock.advance(minute);
  expect(named('set').map((span) => [span.traceId, span.parentId])).toEqual([
    [traceId, clientSpan],
    ['1'.repeat(32), '2'.repeat(16)],
  ]);
  expect(new Set(named('pop').map((span) => span.traceId))).toEqual(
    new Set([traceId, '1'.repeat(32)]),
  );
  await stop();
});

it('a set that is refused says why', async () => {
  const otlp = new FakeOtlp();
  const limits = { ...defaultConfig.limits, pendingTimerCountMax: 10 };
  const one = await startOne({ config: { limits }, more: () => ({ otlp }) });
  for (let i = 0; i < 12; i++) await one.request('POST', '/timers', timerBody(600), sampled);
  await one.clock.advance(minute);
  const [first, last] = [otlp.spans[0], otlp.spans.at(-1)];
  expect([otlp.spans.length, first?.error]).toEqual([12, null]);
  expect(last?.error).toMatch(/timers/);
  expect(last?.attributes).toHaveProperty('error.type');
  await one.stop();
});
