/** Events of one member, from the pop that fails to the callback that tells of it. */
import { type CallbackRequest, decodeDefinition } from '@carillon/core';
import { MemoryDisk } from '@carillon/core/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { configOf, defaultConfig } from '../config/config.ts';
import { type EventWish, eventKinds } from '../config/options/event-wish.ts';
import type { Quota } from '../config/quota.ts';
import { QuotaTable } from '../quotas/quota-table.ts';
import { bodyText, header, type OneMember, startOne, timerBody } from '../testing/one-member.ts';

const events: EventWish = { uri: 'http://events.test/', kinds: eventKinds, form: 'plain' };
const gone = { uri: 'http://gone.test/orders?key=1' };
let one: OneMember;

afterEach(() => one.stop());

async function start(quota: Partial<Quota>, disk: MemoryDisk | null = null) {
  one = await startOne({ config: { namespaces: { default: quota } }, disk });
  one.receivers.script = ({ uri }) => (uri.startsWith('http://gone') ? 410 : 200);
}

function calls(uri: string): CallbackRequest[] {
  return one.receivers.calls.map(({ request }) => request).filter((call) => call.uri === uri);
}

/** Bodies of the callbacks to a uri. */
function told(uri = events.uri): Record<string, unknown>[] {
  return calls(uri).map((request) => JSON.parse(bodyText(request)) as Record<string, unknown>);
}

function typesTold(): unknown[] {
  return told().map(({ type }) => type);
}

async function letterIds(): Promise<string[]> {
  const { body } = await one.request('GET', '/dead-letters');
  const page = JSON.parse(body) as { 'dead-letters': { id: string }[] };
  return page['dead-letters'].map(({ id }) => id);
}

describe('callback.on-failure', () => {
  const uri = 'http://told.test/';
  const withUri = () => {
    const { timing, callback } = timerBody(1, { ...gone, opaque: 'order 17' });
    return { timing, callback: { ...callback, 'on-failure': { uri } }, tags: ['orders'] };
  };

  it('is told of a pop that was given up, with everything that is needed to make up for it', async () => {
    await start({});
    const answer = await one.request('POST', '/timers', withUri());
    const timer = header(answer, 'location')?.slice('/timers/'.length);
    await one.clock.advance(2000);
    const data = {
      timer,
      sequence: 1,
      attempts: 1,
      failure: '4xx',
      receiver: 'http://gone.test',
      tags: ['orders'],
      opaque: 'order 17',
    };
    expect(told(uri)).toMatchObject([
      { type: 'dead-letter', namespace: 'default', subject: timer, data },
    ]);
    const [first] = told(uri) as { data: { 'dead-letter': string } }[];
    const shown = await one.request('GET', `/dead-letters/${first?.data['dead-letter']}`);
    expect(JSON.parse(shown.body)).toMatchObject({ id: (await letterIds())[0] });
  });

  it('is tried again until its receiver takes it; an event that is given up leaves no letter and no event', async () => {
    const retry = { ...defaultConfig.retry, limitMs: 600_000 };
    one = await startOne({ config: { namespaces: { default: { events } }, retry } });
    one.receivers.script = ({ uri: called }) => (called.startsWith('http://gone') ? 410 : 503);
    await one.request('POST', '/timers', withUri());
    await one.clock.advance(5000);
    expect(calls(uri).length).toBeGreaterThan(1);
    await one.clock.advance(1_200_000);
    expect(one.member.store.counts).toMatchObject({ live: 0, dead: 1 });
    expect(one.member.metrics.events.count('given_up')).toBe(2);
    expect(new Set(typesTold())).toEqual(new Set(['dead-letter']));
  });

  it('comes again for a letter that was sent again and came back', async () => {
    await start({});
    await one.request('POST', '/timers', withUri());
    await one.clock.advance(2000);
    const [id] = await letterIds();
    await one.request('POST', `/dead-letters/${id}/redeliver`);
    await one.clock.advance(2000);
    expect(calls(uri)).toHaveLength(2);
    expect(new Set(calls(uri).map(({ headers }) => headers['x-timer-id'])).size).toBe(2);
  });
});

describe('events of a namespace', () => {
  it('tell of dead letters once for a receiver, class of failure and minute', async () => {
    await start({ events });
    const items = Array.from({ length: 7 }, () => timerBody(1, gone));
    await one.request('POST', '/timers/batch', items);
    await one.clock.advance(5000);
    expect(await letterIds()).toHaveLength(7);
    expect(told()).toMatchObject([
      { type: 'dead-letter', subject: 'http://gone.test', data: { failure: '4xx' } },
    ]);
    expect(JSON.stringify(told())).not.toContain('key=1');
    await one.clock.advance(60_000);
    await one.request('POST', '/timers', timerBody(1, gone));
    await one.clock.advance(5000);
    expect(typesTold().filter((type) => type === 'dead-letter')).toHaveLength(2);
  });

  it('tell of letters of very many receivers together', async () => {
    await start({ events });
    const items = Array.from({ length: 300 }, (_, i) =>
      timerBody(1, { uri: `http://gone${i}.test/` }),
    );
    await one.request('POST', '/timers/batch', items);
    await one.clock.advance(5000);
    expect(told()).toHaveLength(101);
    expect(told().filter(({ subject }) => subject === '')).toHaveLength(1);
  });

  it('tell that a destination fails, and that it is well again', async () => {
    await start({ events });
    let answer = 500;
    one.receivers.script = ({ uri }) => (uri === events.uri ? 200 : answer);
    const shop = { uri: 'http://shop.test/', repeatFor: 3600 };
    await one.request('POST', '/timers', timerBody(10, shop));
    await one.clock.advance(35_000);
    expect(typesTold()).not.toContain('destination-failing');
    await one.clock.advance(30_000);
    const failing = told().filter(({ type }) => type === 'destination-failing');
    expect(failing).toMatchObject([{ subject: 'http://shop.test', data: { failure: '5xx' } }]);
    answer = 200;
    await one.clock.advance(30_000);
    expect(told().at(-1)).toMatchObject({ type: 'destination-well', subject: 'http://shop.test' });
  });

  it('tell of a letter box that is nearly full, also while the namespace is over its quota', async () => {
    await start({ events, letterCountMax: 10, timerCountMax: 8 });
    const items = Array.from({ length: 8 }, () => timerBody(1, gone));
    await one.request('POST', '/timers/batch', items);
    await one.clock.advance(1100);
    const full = Array.from({ length: 8 }, () => timerBody(3600));
    await one.request('POST', '/timers/batch', full);
    expect((await one.request('POST', '/timers', timerBody(3600))).status).toBe(429);
    await one.clock.advance(10_000);
    expect(typesTold()).toContain('letter-box-nearly-full');
  });

  it('tell of a disk that is nearly full', async () => {
    const disk = new MemoryDisk({ capacityBytes: 1024 ** 3 });
    await start({ events }, disk);
    disk.capacityBytes = disk.usedBytes * 1.05;
    await one.clock.advance(15_000);
    expect(told()).toMatchObject([{ type: 'disk-nearly-full', subject: 'n0' }]);
  });

  it('come as CloudEvents where that is wished, and are signed as callbacks of the namespace are', async () => {
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    const values = new Map<string, unknown>([
      ['callbacks.signingSecrets', [secret]],
      ['namespaces', { default: { events: { ...events, form: 'cloudevents' } } }],
    ]);
    one = await startOne({ config: configOf(values) });
    one.receivers.script = ({ uri }) => (uri.startsWith('http://gone') ? 410 : 200);
    await one.request('POST', '/timers', timerBody(1, gone));
    await one.clock.advance(3000);
    const [request] = calls(events.uri);
    expect(request?.headers).toMatchObject({
      'ce-type': 'carillon.dead-letter',
      'ce-subject': 'http://gone.test',
      'content-type': 'application/json',
      'x-timer-event': 'dead-letter',
    });
    expect(request?.headers['webhook-signature']).toMatch(/^v1,/);
    expect(request?.headers['ce-id']).toBe(request?.headers['webhook-id']);
  });

  it('are timers that a client can read, and cannot make', async () => {
    await start({ events });
    one.receivers.script = ({ uri }) => (uri.startsWith('http://gone') ? 410 : 503);
    await one.request('POST', '/timers', { ...timerBody(1, gone), event: 'dead-letter' });
    await one.clock.advance(3000);
    const page = await one.request('GET', '/timers');
    const { timers } = JSON.parse(page.body) as { timers: object[] };
    expect(timers).toMatchObject([{ event: 'dead-letter', state: 'retrying' }]);
    expect(await letterIds()).toHaveLength(1);
  });

  it('of kinds that are not wished are not raised', async () => {
    await start({ events: { ...events, kinds: ['letter-dropped'] } });
    await one.request('POST', '/timers', timerBody(1, gone));
    await one.clock.advance(5000);
    expect(told()).toEqual([]);
  });
});

it('events that find no room at the member hold up no pop', async () => {
  const limits = { ...defaultConfig.limits, pendingTimerCountMax: 20 };
  one = await startOne({ config: { limits } });
  one.receivers.script = ({ uri }) => (uri.startsWith('http://gone') ? 410 : 503);
  const { timing, callback } = timerBody(1, gone);
  const content = {
    timing,
    callback: { ...callback, 'on-failure': { uri: 'http://told.test/' } },
  };
  for (let i = 0; i < 16; i++) await one.request('POST', '/timers', content);
  await one.clock.advance(10_000);
  expect(one.member.store.counts).toMatchObject({ dead: 16 });
  expect(one.member.metrics.events.count('refused')).toBeGreaterThan(0);
  expect(one.member.store.counts.live).toBeLessThan(6);
});

describe('retention of dead letters', () => {
  const kept = () => one.member.store.counts.dead;

  it('drops letters over an age, and tells of each', async () => {
    await start({ letterAgeMsMax: 3_600_000, events: { ...events, kinds: ['letter-dropped'] } });
    await one.request('POST', '/timers/batch', [timerBody(1, gone), timerBody(1, gone)]);
    await one.clock.advance(3_590_000);
    expect(kept()).toBe(2);
    await one.clock.advance(20_000);
    expect(kept()).toBe(0);
    expect(typesTold()).toEqual(['letter-dropped', 'letter-dropped']);
    expect(new Set(told().map(({ subject }) => subject)).size).toBe(2);
    expect(one.member.metrics.lettersDropped.value).toBe(2);
  });

  it('drops the oldest letters over a number', async () => {
    await start({ letterKeptCountMax: 3 });
    for (let i = 0; i < 5; i++) {
      await one.request('POST', '/timers', timerBody(1, { ...gone, opaque: String(i) }));
      await one.clock.advance(2000);
    }
    await one.clock.advance(10_000);
    const letters: string[] = [];
    const next = one.member.store.records();
    for (let record = next(); record !== undefined; record = next())
      if (record.body.length > 0) letters.push(decodeDefinition(record.body).opaque);
    expect(letters.toSorted()).toEqual(['2', '3', '4']);
  });

  it('follows a configuration that is read again, for letters that are there already', async () => {
    const quotas = new QuotaTable(defaultConfig);
    one = await startOne({ more: () => ({ quotas }) });
    one.receivers.script = () => 410;
    await one.request('POST', '/timers', timerBody(1, gone));
    await one.clock.advance(120_000);
    expect(kept()).toBe(1);
    quotas.use({ default: { letterAgeMsMax: 60_000 } });
    await one.clock.advance(10_000);
    expect(kept()).toBe(0);
  });

  it('keeps a letter whose event finds no place', async () => {
    const disk = new MemoryDisk({ capacityBytes: 100 * 1024 * 1024 });
    await start({ letterAgeMsMax: 3_600_000, events }, disk);
    await one.request('POST', '/timers', timerBody(1, gone));
    await one.clock.advance(3_500_000);
    disk.capacityBytes = 0;
    await one.clock.advance(300_000);
    expect(kept()).toBe(1);
    disk.capacityBytes = 1024 ** 3;
    await one.clock.advance(600_000);
    expect(kept()).toBe(0);
  });
});
