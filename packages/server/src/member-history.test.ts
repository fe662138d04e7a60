import type { CallbackResult } from '@carillon/core';
import { MemoryDisk, VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { Access } from './access/access.ts';
import { defaultConfig } from './config/config.ts';
import {
  header,
  type OneMember,
  type OneMemberOptions,
  startOne,
  timerBody,
} from './testing/one-member.ts';
import { testToken } from './testing/tokens.ts';

interface Entry {
  readonly kind: 'attempt' | 'change';
  readonly at: string;
  readonly timer: string;
  readonly namespace: string;
  readonly member: string;
  readonly action?: string;
  readonly actor?: string | null;
  readonly tag?: string | null;
  readonly pop: number | null;
  readonly status?: number | string;
  readonly detail?: string;
  readonly replica?: number;
}

interface Page {
  readonly entries: readonly Entry[];
  readonly cursor: string | null;
  readonly missing: readonly string[];
}

const shop = testToken(1, { scope: 'write', name: 'shop-backend' });
const night = testToken(2, { scope: 'admin', name: 'night-shift' });
const bank = testToken(3, { scope: 'write', name: 'bank', namespace: 'bank' });

async function start(options: OneMemberOptions = {}) {
  const one = await startOne({
    ...options,
    more: (clock) => {
      const access = new Access({ clock });
      access.use([shop.token, night.token, bank.token]);
      return { access };
    },
  });
  const ask = (who: typeof shop, method: string, path: string, body?: unknown) =>
    one.request(method, path, body, { authorization: `Bearer ${who.text}` });
  const page = async (who: typeof shop, path: string): Promise<Page> => {
    const { status, body } = await ask(who, 'GET', path);
    expect(status, body).toBe(200);
    return JSON.parse(body) as Page;
  };
  return { ...one, ask, page };
}

const failing = (status: number, said: string): CallbackResult => ({
  kind: 'answer',
  status,
  retryAfterMs: null,
  said,
});

/** The number in the path of a timer. */
function numberIn(location: string | undefined): string {
  return /\/timers\/([0-9a-f]{16})/.exec(location ?? '')?.[1] ?? '';
}

function told({ entries }: Page): string[] {
  return entries.map(({ action, actor, pop, status, detail }) =>
    [action ?? 'attempt', actor ?? '', pop ?? '', status ?? '', detail ?? ''].join(' ').trim(),
  );
}

async function passing({ clock }: OneMember, ms: number): Promise<void> {
  for (let i = 0; i < 20; i++) await clock.advance(ms / 20);
}

test('the history of a timer has every change with its actor and every attempt, also after a restart', async () => {
  const disk = new MemoryDisk();
  const clock = new VirtualClock();
  const first = await start({ disk, clock });
  first.receivers.script = () => failing(503, 'closed for tonight');
  const body = {
    timing: { interval: 10 },
    callback: { http: { uri: 'http://receiver.test/' }, retry: { 'max-attempts': 2 } },
  };
  const set = await first.ask(shop, 'POST', '/timers', body);
  const id = numberIn(header(set, 'location'));
  await passing(first, 30_000);
  const { 'dead-letters': letters } = JSON.parse(
    (await first.ask(night, 'GET', '/dead-letters')).body,
  ) as { 'dead-letters': { id: string }[] };
  first.receivers.script = () => 200;
  await first.ask(night, 'POST', `/dead-letters/${letters[0]?.id}/redeliver`);
  await passing(first, 2000);
  const expected = [
    'attempt  1 200',
    'redeliver night-shift 1',
    'give-up  1',
    'attempt  1 503 closed for tonight',
    'attempt  1 503 closed for tonight',
    'set shop-backend',
  ];
  expect(told(await first.page(night, `/timers/${id}/history`))).toEqual(expected);
  await first.stop();

  const second = await start({ disk: disk.kill(), clock });
  const page = await second.page(night, `/timers/${id}/history`);
  expect(told(page)).toEqual(expected);
  expect(page.missing).toEqual([]);
  expect(page.cursor).toBeNull();
  expect(page.entries[0]).toMatchObject({
    member: 'n0',
    replica: 0,
    namespace: 'default',
    timer: id,
  });
  expect(page.entries.map(({ at }) => Date.parse(at))).toEqual(
    page.entries.map(({ at }) => Date.parse(at)).toSorted((a, b) => b - a),
  );
  await second.stop();
});

test('the audit names the token that cancelled a thousand timers by tag, page by page', async () => {
  const one = await start();
  const items = Array.from({ length: 1000 }, () => ({ ...timerBody(3600), tags: ['order-17'] }));
  await one.ask(shop, 'POST', '/timers/batch', items);
  const kept = await one.ask(shop, 'POST', '/timers', timerBody(3600));
  const cancelled = await one.ask(night, 'DELETE', '/timers?tag=order-17');
  expect(JSON.parse(cancelled.body)).toEqual({ cancelled: 1000 });
  await one.ask(shop, 'DELETE', header(kept, 'location') ?? '');
  const numbers = new Set<string>();
  let path: string | null = '/audit?action=cancel&actor=night-shift&limit=300';
  const sizes: number[] = [];
  while (path !== null) {
    const page: Page = await one.page(night, path);
    sizes.push(page.entries.length);
    for (const { timer, actor, tag } of page.entries) {
      expect({ actor, tag }).toEqual({ actor: 'night-shift', tag: 'order-17' });
      numbers.add(timer);
    }
    path =
      page.cursor === null
        ? null
        : `/audit?action=cancel&actor=night-shift&limit=300&cursor=${page.cursor}`;
  }
  expect(numbers.size).toBe(1000);
  expect(sizes).toEqual([300, 300, 300, 100]);
  const { entries } = await one.page(night, '/audit?limit=1');
  expect(entries[0]).toMatchObject({ action: 'cancel', actor: 'shop-backend', tag: null });
});

test('replaced, discarded, batched and run timers are in the audit', async () => {
  const one = await start();
  const set = await one.ask(shop, 'POST', '/timers', timerBody(3600));
  const id = numberIn(header(set, 'location'));
  await one.ask(shop, 'PUT', header(set, 'location') ?? '', timerBody(7200));
  await one.ask(night, 'POST', `/timers/${id}/run`);
  await one.ask(shop, 'POST', '/timers/batch', [
    { change: 'replace', id, timer: timerBody(60) },
    { change: 'cancel', id },
  ]);
  expect(told(await one.page(shop, `/timers/${id}/history`))).toEqual([
    'cancel shop-backend',
    'replace shop-backend',
    'run night-shift',
    'replace shop-backend',
    'set shop-backend',
  ]);
  one.receivers.script = () => 410;
  await one.ask(shop, 'POST', '/timers', timerBody(1));
  await passing(one, 2000);
  await one.ask(night, 'DELETE', '/dead-letters?all=true');
  const { entries } = await one.page(night, '/audit?action=discard');
  const discarded = expect.objectContaining({ actor: 'night-shift', pop: 1 }) as Entry;
  expect(entries).toEqual([discarded, discarded]);
});

test('a repeated request under a key is one change', async () => {
  const one = await start();
  const headers = { authorization: `Bearer ${shop.text}`, 'idempotency-key': 'k' };
  await one.request('POST', '/timers', timerBody(3600), headers);
  await one.request('POST', '/timers', timerBody(3600), headers);
  expect(told(await one.page(shop, '/audit'))).toEqual(['set shop-backend']);
});

test('a namespace sees its own entries only, and all of them only a token for all may see', async () => {
  const one = await start();
  await one.ask(bank, 'POST', '/timers', timerBody(3600));
  const set = await one.ask(shop, 'POST', '/timers', timerBody(3600));
  const id = numberIn(header(set, 'location'));
  expect(told(await one.page(bank, '/audit'))).toEqual(['set bank']);
  expect(told(await one.page(night, '/audit'))).toEqual(['set shop-backend']);
  expect((await one.page(bank, `/timers/${id}/history`)).entries).toEqual([]);
  expect((await one.ask(bank, 'GET', '/audit?namespace=*')).status).toBe(403);
  const all = await one.page(night, '/audit?namespace=*');
  expect(all.entries.map(({ namespace }) => namespace).toSorted()).toEqual(['bank', 'default']);
});

test('stored answers of receivers can be erased, and the erasure is in the audit', async () => {
  const disk = new MemoryDisk();
  const one = await start({ disk });
  one.receivers.script = () => failing(500, 'card 4711 declined');
  const set = await one.ask(shop, 'POST', '/timers', timerBody(1));
  const id = numberIn(header(set, 'location'));
  await passing(one, 3000);
  const path = `/timers/${id}/history`;
  expect(JSON.stringify(await one.page(shop, path))).toContain('4711');
  const erased = await one.ask(shop, 'DELETE', '/history/answers');
  expect([erased.status, erased.body]).toEqual([200, '{"missing":[]}']);
  const after = await one.page(shop, path);
  expect(JSON.stringify(after)).not.toContain('4711');
  expect(told(after)).toContain('attempt  1 500');
  expect((await one.ask(shop, 'GET', path.replace('history', 'attempts'))).body).not.toContain(
    '4711',
  );
  expect((await one.page(shop, '/audit?action=erase')).entries[0]).toMatchObject({
    actor: 'shop-backend',
  });
});

test('no history is kept where its bytes are 0, and the answers are empty', async () => {
  const disk = new MemoryDisk();
  const history = { ...defaultConfig.history, bytesMax: 0 };
  const one = await start({ disk, config: { history } });
  const set = await one.ask(shop, 'POST', '/timers', timerBody(1));
  await passing(one, 3000);
  const page = await one.page(shop, `/timers/${numberIn(header(set, 'location'))}/history`);
  expect(page).toEqual({ entries: [], cursor: null, missing: [] });
  expect(disk.look().some(({ name }) => name.startsWith('history'))).toBe(false);
});

test('a history that cannot be written stops neither sets nor pops', async () => {
  const disk = new MemoryDisk();
  const create = disk.create.bind(disk);
  disk.create = (name, ahead) =>
    name.startsWith('history') ? Promise.reject(new Error('broken')) : create(name, ahead);
  const one = await start({ disk });
  await one.ask(shop, 'POST', '/timers', timerBody(1));
  await passing(one, 5000);
  expect(one.receivers.calls.length).toBe(1);
  expect(one.failures).toEqual([]);
  expect((await one.ask(shop, 'POST', '/timers', timerBody(1))).status).toBe(200);
  expect((await one.ask(night, 'GET', '/metrics')).body).toMatch(
    /carillon_history_omitted_total [1-9]/,
  );
});

test.each([
  ['/audit?since=yesterday', /since must look like/],
  ['/audit?action=explode', /action must be one of set, replace/],
  ['/audit?actor=', /actor must be the name/],
  ['/audit?namespace=bank', /namespace may only be \*/],
  ['/audit?cursor=xyz', /cursor must be one/],
  ['/timers/0000000000000001/history?limit=0', /limit must be/],
])('%s is refused with a sentence', async (path, sentence) => {
  const one = await start();
  const { status, body } = await one.ask(night, 'GET', path);
  expect(status).toBe(400);
  expect(body).toMatch(sentence);
});

test('the audit names the token that told a member to resync, and has no drain that was refused', async () => {
  const { ask, page, clock } = await start({ disk: new MemoryDisk() });
  expect((await ask(shop, 'POST', '/cluster/resync')).status).toBe(403);
  expect((await ask(night, 'POST', '/cluster/resync')).status).toBe(202);
  const drain = ask(night, 'POST', '/cluster/drain');
  await clock.advance(100);
  expect((await drain).status).toBe(409);
  await clock.advance(2000);
  expect(told(await page(night, '/audit'))).toEqual(['resync night-shift']);
  expect(told(await page(night, '/audit?action=drain'))).toEqual([]);
});
