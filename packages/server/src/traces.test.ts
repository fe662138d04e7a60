/** Traces at a member that exports none: it keeps the trace of a set, and hands it on with the callback. */
import { describe, expect, it } from 'vitest';
import { bodyText, header, startOne, timerBody } from './testing/one-member.ts';

const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const other = '00-11111111111111111111111111111111-2222222222222222-00';
const headers = { traceparent: trace };
const minute = 60_000;

async function callsOf(body: unknown, given: Record<string, string> = headers, advanceMs = minute) {
  const one = await startOne();
  await one.request('POST', '/timers', body, given);
  await one.clock.advance(advanceMs);
  await one.stop();
  return one.receivers.calls.map(({ request }) => request.headers);
}

describe('the callback of a timer that was set with traceparent', () => {
  it('goes on with that trace where it is the only one and comes soon', async () => {
    const once = { timing: { cron: '* * * * *', count: 1 }, callback: timerBody(1).callback };
    for (const body of [timerBody(10), timerBody(10, { repeatFor: 10 }), once]) {
      const [call] = await callsOf(body);
      expect(call).toMatchObject({ traceparent: trace });
      expect(call).not.toHaveProperty('x-timer-trace');
    }
  });

  it('points to that trace where there are several, or it comes late', async () => {
    const [first, second] = await callsOf(timerBody(10, { repeatFor: 20 }));
    const [late] = await callsOf(timerBody(601), headers, 11 * minute);
    for (const call of [first, second, late]) {
      expect(call).toMatchObject({ 'x-timer-trace': trace });
      expect(call).not.toHaveProperty('traceparent');
    }
  });

  it('has a header of the timer itself instead, where there is one', async () => {
    const { callback, timing } = timerBody(10);
    const own = { http: { ...callback.http, headers: { Traceparent: 'mine' } } };
    expect(await callsOf({ timing, callback: own })).toMatchObject([{ traceparent: 'mine' }]);
  });

  it('has neither header where the set had none, or one that is not understood', async () => {
    for (const given of [{}, { traceparent: 'nonsense' }, { traceparent: `${trace}, ${trace}` }]) {
      const [call] = await callsOf(timerBody(10), given);
      expect(call).toBeDefined();
      expect(call).not.toHaveProperty('traceparent');
      expect(call).not.toHaveProperty('x-timer-trace');
    }
  });

  it('ends its trace after ten minutes, also for a pop that is tried again', async () => {
    const one = await startOne();
    one.receivers.script = () => 500;
    const { timing, callback } = timerBody(10);
    const retry = { base: 200, 'max-wait': 200, limit: 3600 };
    await one.request('POST', '/timers', { timing, callback: { ...callback, retry } }, headers);
    await one.clock.advance(60 * minute);
    const [first] = one.receivers.calls;
    const last = one.receivers.calls.at(-1);
    expect(first?.request.headers).toHaveProperty('traceparent', trace);
    expect(last?.request.headers).toHaveProperty('x-timer-trace', trace);
    await one.stop();
  });
});

describe('a batch', () => {
  it('gives each change the trace that it names, and the others the trace of the request', async () => {
    const one = await startOne();
    const items = [
      timerBody(10, { opaque: 'bare' }),
      { change: 'set', timer: timerBody(10, { opaque: 'named' }), traceparent: other },
      { change: 'set', timer: timerBody(10, { opaque: 'odd' }), traceparent: 17 },
      {
        change: 'replace',
        id: `${'1'.repeat(16)}-1`,
        timer: timerBody(10, { opaque: 'replaced' }),
        traceparent: other,
      },
    ];
    const answer = await one.request('POST', '/timers/batch', items, headers);
    expect(JSON.parse(answer.body)).toHaveLength(4);
    await one.clock.advance(minute);
    const traces = one.receivers.calls.map(({ request }) => [
      bodyText(request),
      request.headers['traceparent'],
    ]);
    expect(Object.fromEntries(traces)).toEqual({
      bare: trace,
      named: other,
      odd: undefined,
      replaced: other,
    });
    await one.stop();
  });

  it('of callbacks names the trace of each line', async () => {
    const one = await startOne();
    const body = (opaque: string, repeatFor: number) => {
      const { timing, callback } = timerBody(10, { opaque, repeatFor });
      return { timing, callback: { http: { ...callback.http, batch: true } } };
    };
    await one.request('POST', '/timers', body('once', 10), headers);
    await one.request('POST', '/timers', body('twice', 20), headers);
    await one.request('POST', '/timers', body('bare', 10));
    await one.clock.advance(15_000);
    const [call] = one.receivers.calls;
    expect(call?.request.headers).not.toHaveProperty('traceparent');
    const lines = bodyText(call?.request ?? expect.fail())
      .trim()
      .split('\n');
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const shown = told.map(({ opaque, traceparent, trace: set }) => [opaque, traceparent, set]);
    expect(new Set(shown)).toEqual(
      new Set([
        ['bare', undefined, undefined],
        ['once', trace, undefined],
        ['twice', undefined, trace],
      ]),
    );
    await one.stop();
  });
});

it('a set that is repeated under its key with another trace is the same set', async () => {
  const one = await startOne();
  const key = { 'idempotency-key': 'k' };
  const set = (traceparent: string) =>
    one.request('POST', '/timers', timerBody(10), { ...key, traceparent });
  const [first, second] = [await set(trace), await set(other)];
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(header(second, 'location')).toBe(header(first, 'location'));
  await one.clock.advance(minute);
  expect((await set(other)).status).toBe(200);
  expect(one.receivers.calls).toHaveLength(1);
  await one.stop();
});

it('a timer that is run now goes on with the trace of that request', async () => {
  const one = await startOne();
  const set = await one.request('POST', '/timers', timerBody(600), headers);
  await one.request('POST', `${header(set, 'location')}/run`, undefined, { traceparent: other });
  await one.clock.advance(1000);
  expect(one.receivers.calls.map(({ request }) => request.headers['traceparent'])).toEqual([other]);
  await one.stop();
});
