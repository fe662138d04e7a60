import { MemoryDisk } from '@carillon/core/testing';
import { describe, expect, it } from 'vitest';
import { defaultConfig } from './config/config.ts';
import { bodyText, header, startOne, timerBody } from './testing/one-member.ts';

const minute = 60_000;

describe('a timer', () => {
  it('pops once, when it is due, with the opaque as body and the headers that tell which pop it is', async () => {
    const { request, clock, receivers } = await startOne();
    const startMs = clock.now();
    const set = await request('POST', '/timers', timerBody(10, { opaque: 'héllo' }));
    expect(set.status).toBe(200);
    const location = header(set, 'location') ?? '';
    expect(location).toMatch(/^\/timers\/[0-9a-f]{32}-2$/);
    await clock.advanceTo(startMs + 9_999);
    expect(receivers.calls).toHaveLength(0);
    await clock.advanceTo(startMs + 5 * minute);
    expect(receivers.calls).toHaveLength(1);
    const [call] = receivers.calls;
    expect(call?.startMs).toBe(startMs + 10_000);
    expect(call && bodyText(call.request)).toBe('héllo');
    expect(call?.request.method).toBe('POST');
    expect(call?.request.headers).toMatchObject({
      'x-sequence-number': '1',
      'x-timer-id': location.slice('/timers/'.length),
      'x-timer-attempt': '1',
      'x-timer-version': expect.stringMatching(/^\d+\.\d+$/),
      'x-timer-due': new Date(clock.wallOffsetMs + startMs + 10_000).toISOString(),
    });
  });

  it('recurs without drift, as often as repeat-for says, even when the receiver is slow', async () => {
    const { request, clock, receivers } = await startOne();
    receivers.script = () => ({ afterMs: 700, answer: 200 });
    const startMs = clock.now();
    await request('POST', '/timers', timerBody(30, { repeatFor: 300 }));
    await clock.advance(20 * minute);
    expect(receivers.calls.map((call) => call.startMs - startMs)).toEqual(
      Array.from({ length: 10 }, (_, i) => (i + 1) * 30_000),
    );
    expect(receivers.calls.map((call) => call.request.headers['x-sequence-number'])).toEqual(
      Array.from({ length: 10 }, (_, i) => String(i + 1)),
    );
  });

  it('with interval 0 pops at once', async () => {
    const { request, clock, receivers } = await startOne();
    await request('POST', '/timers', timerBody(0));
    await clock.advance(50);
    expect(receivers.calls).toHaveLength(1);
  });

  it('that is replaced pops as the new one says, and its sequence starts again', async () => {
    const { request, clock, receivers } = await startOne();
    const set = await request('POST', '/timers', timerBody(10, { repeatFor: 1000 }));
    await clock.advance(25_000);
    const path = header(set, 'location') ?? '';
    const replaced = await request('PUT', path, timerBody(40, { opaque: 'new' }));
    expect(replaced.status).toBe(200);
    expect(header(replaced, 'location')).toBe(path);
    await clock.advance(10 * minute);
    expect(
      receivers.calls.map((call) => [
        bodyText(call.request),
        call.request.headers['x-sequence-number'],
      ]),
    ).toEqual([
      ['ding', '1'],
      ['ding', '2'],
      ['new', '1'],
    ]);
  });

  it('that is cancelled does not pop, not even while its callback waits for a retry', async () => {
    const { request, clock, receivers } = await startOne();
    receivers.script = () => 500;
    const set = await request('POST', '/timers', timerBody(10));
    await clock.advance(10_001);
    expect(receivers.calls.length).toBeGreaterThan(0);
    expect((await request('DELETE', header(set, 'location') ?? '')).status).toBe(200);
    const made = receivers.calls.length;
    await clock.advance(60 * minute);
    expect(receivers.calls).toHaveLength(made);
    expect((await request('GET', header(set, 'location') ?? '')).status).toBe(404);
  });

  it('can be read: definition, next due, sequence, last outcome', async () => {
    const { request, clock, receivers } = await startOne();
    receivers.script = (_, index) => (index === 0 ? 503 : 200);
    const set = await request('POST', '/timers', timerBody(10, { repeatFor: 100 }));
    const path = header(set, 'location') ?? '';
    await clock.advance(10_000);
    const failed = JSON.parse((await request('GET', path)).body);
    expect(failed).toMatchObject({
      state: 'retrying',
      sequence: 0,
      attempt: 1,
      'last-outcome': 503,
    });
    await clock.advance(5000);
    const read = JSON.parse((await request('GET', path)).body);
    expect(read).toMatchObject({
      state: 'pending',
      sequence: 1,
      attempt: 0,
      'last-outcome': 200,
      replicas: ['n0'],
    });
  });
});

describe('a failing receiver', () => {
  it('is tried again with backoff, and a recurring timer goes on', async () => {
    const { request, clock, receivers } = await startOne();
    receivers.script = (call) => (call.headers['x-sequence-number'] === '2' ? 500 : 200);
    await request('POST', '/timers', timerBody(60, { repeatFor: 240 }));
    await clock.advance(10 * minute);
    const sequences = receivers.calls.map((call) => call.request.headers['x-sequence-number']);
    expect(sequences.filter((sequence) => sequence === '2').length).toBeGreaterThan(2);
    expect(sequences.filter((sequence) => sequence !== '2')).toEqual(['1', '3', '4']);
  });

  it('leaves a dead letter that can be read, re-sent with the same sequence, and discarded', async () => {
    const { request, clock, receivers } = await startOne();
    receivers.script = () => 410;
    await request('POST', '/timers', timerBody(10, { opaque: 'lost' }));
    await request('POST', '/timers', timerBody(10, { opaque: 'other' }));
    await clock.advance(minute);
    expect(receivers.calls).toHaveLength(2);
    const list = async () =>
      JSON.parse((await request('GET', '/dead-letters')).body)['dead-letters'];
    const letters = await list();
    expect(letters).toHaveLength(2);
    receivers.script = () => 200;
    const lost = letters.find(
      (letter: { callback: { http: { opaque: string } } }) =>
        letter.callback.http.opaque === 'lost',
    );
    const other = letters.find((letter: unknown) => letter !== lost);
    expect((await request('POST', `/dead-letters/${lost.id}/redeliver`)).status).toBe(200);
    await clock.advance(minute);
    const again = receivers.calls.at(-1)?.request;
    expect(again && bodyText(again)).toBe('lost');
    expect(again?.headers['x-sequence-number']).toBe('1');
    expect(await list()).toHaveLength(1);
    expect((await request('DELETE', `/dead-letters/${other.id.slice(0, 16)}`)).status).toBe(200);
    expect(await list()).toHaveLength(0);
  });
});

describe('a burst', () => {
  it('larger than fits in memory waits in the wheel: every pop is made once, none counts as failed', async () => {
    const limits = { ...defaultConfig.limits, popQueueLengthMax: 50 };
    const { request, clock, receivers } = await startOne({ config: { limits } });
    receivers.script = () => ({ afterMs: 20, answer: 200 });
    const items = Array.from({ length: 1000 }, (_, i) => timerBody(10, { opaque: String(i) }));
    await request('POST', '/timers/batch', items);
    await clock.advance(10 * minute);
    expect(receivers.calls.map((call) => call.request.headers['x-timer-attempt'])).toEqual(
      Array.from({ length: 1000 }, () => '1'),
    );
    expect(new Set(receivers.calls.map((call) => bodyText(call.request))).size).toBe(1000);
  });

  it('for one slow receiver does not hold up another', async () => {
    const limits = { ...defaultConfig.limits, popQueueLengthMax: 50 };
    const { request, clock, receivers } = await startOne({ config: { limits } });
    receivers.script = (call) => (call.uri.includes('slow') ? { afterMs: 9000, answer: 200 } : 200);
    const startMs = clock.now();
    const slow = Array.from({ length: 500 }, () => timerBody(10, { uri: 'http://slow.test/' }));
    await request('POST', '/timers/batch', slow);
    await request('POST', '/timers', timerBody(20, { uri: 'http://quick.test/' }));
    await clock.advance(30 * minute);
    const quick = receivers.calls.filter((call) => call.request.uri.includes('quick'));
    expect(quick.map((call) => call.startMs - startMs)).toEqual([20_000]);
    expect(receivers.calls).toHaveLength(501);
  });
});

describe('an idempotency key', () => {
  const key = { 'idempotency-key': 'order-7' };

  it('gives the same timer again, also after it has popped; another body is refused', async () => {
    const { request, clock, receivers } = await startOne();
    const first = await request('POST', '/timers', timerBody(10), key);
    const second = await request('POST', '/timers', timerBody(10), key);
    expect(header(second, 'location')).toBe(header(first, 'location'));
    await clock.advance(minute);
    expect(receivers.calls).toHaveLength(1);
    const third = await request('POST', '/timers', timerBody(10), key);
    expect(third.status).toBe(200);
    expect(header(third, 'location')).toBe(header(first, 'location'));
    await clock.advance(minute);
    expect(receivers.calls).toHaveLength(1);
    expect((await request('POST', '/timers', timerBody(11), key)).status).toBe(422);
  });
});

describe('lists', () => {
  it('page through everything once, filter by tag, and cancel by tag', async () => {
    const { request } = await startOne();
    for (let i = 0; i < 25; i++) {
      const tags = i % 5 === 0 ? ['five'] : ['rest'];
      await request('POST', '/timers', { ...timerBody(100), tags });
    }
    const seen = new Set<string>();
    let cursor = '';
    do {
      const page = JSON.parse((await request('GET', `/timers?limit=10${cursor}`)).body);
      for (const timer of page.timers) seen.add(timer.id);
      cursor = page.cursor === null ? '' : `&cursor=${page.cursor}`;
    } while (cursor !== '');
    expect(seen.size).toBe(25);
    expect(JSON.parse((await request('GET', '/timers?tag=five')).body).timers).toHaveLength(5);
    expect(JSON.parse((await request('DELETE', '/timers?tag=five')).body)).toEqual({
      cancelled: 5,
    });
    expect(JSON.parse((await request('GET', '/timers')).body).timers).toHaveLength(20);
  });
});

describe('a restart', () => {
  it('brings back every confirmed timer; timers that fell due meanwhile pop at once, missed pops merged into one', async () => {
    const disk = new MemoryDisk();
    const before = await startOne({ disk });
    const { clock } = before;
    await before.request('POST', '/timers', timerBody(10, { opaque: 'due' }));
    await before.request('POST', '/timers', timerBody(1000, { opaque: 'later' }));
    await before.request('POST', '/timers', timerBody(10, { opaque: 'often', repeatFor: 100 }));
    await clock.advance(100);
    await before.stop();
    await clock.advance(45_000);
    const after = await startOne({ disk, clock });
    await clock.advance(100);
    const pops = after.receivers.calls.map((call) => [
      bodyText(call.request),
      call.request.headers['x-timer-missed'],
    ]);
    expect(new Set(pops)).toEqual(
      new Set([
        ['due', undefined],
        ['often', '3'],
      ]),
    );
    const often = after.receivers.calls.find((call) => bodyText(call.request) === 'often');
    expect(often?.request.headers['x-sequence-number']).toBe('4');
    const timers = JSON.parse((await after.request('GET', '/timers')).body).timers;
    expect(timers).toHaveLength(2);
  });
});
