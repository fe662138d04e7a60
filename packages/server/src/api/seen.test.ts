/**
 * `Carillon-Version` in every answer to a change, `Carillon-Seen` heeded before every change: with a stand-in, then
 * with a member.
 */
import { CarillonError, compareVersions, parseVersion } from '@carillon/core';
import { describe, expect, test } from 'vitest';
import { header, startOne, timerBody } from '../testing/one-member.ts';
import { headerIn, testApi, viewOf } from './stand-in.contract.ts';

const id = '00000019000000010000000100000002-2';
const body = timerBody(30);
const dayMs = 86_400_000;

const changes = [
  { method: 'POST', path: '/timers', body },
  { method: 'PUT', path: `/timers/${id}`, body },
  { method: 'DELETE', path: `/timers/${id}` },
  { method: 'DELETE', path: '/timers?tag=a' },
  { method: 'POST', path: `/dead-letters/${id}/redeliver` },
  { method: 'DELETE', path: `/dead-letters/${id}` },
];
const batch = { method: 'POST', path: '/timers/batch', body: [body] };
const reads = [`/timers/${id}`, '/timers', `/timers/${id}/attempts`, '/dead-letters'];

async function letterApi() {
  const api = testApi();
  await api.ask('POST', '/timers', { body });
  const [first] = api.service.sets;
  if (first === undefined) throw new Error('The timer was not set.');
  const { definition } = first;
  const origin = { id, sequence: 1, dueMs: 0, missed: 0, reason: 'refused', failedMs: 0 };
  api.service.known = {
    ...viewOf(first, 1),
    definition: {
      ...definition,
      origin: { ...origin, attempts: 1, versionMs: 1, versionTie: 1 } as never,
    },
  };
  return api;
}

describe('the header', () => {
  test.each(changes)('$method $path: its answer carries the version', async (change) => {
    const { ask } = await letterApi();
    const answer = await ask(change.method, change.path, { body: change.body });
    expect([answer.status, headerIn(answer, 'carillon-version')]).toEqual([200, '7.1']);
  });

  test.each([...changes, batch])(
    '$method $path: under the name of the answer it is refused, and nothing is done',
    async (change) => {
      const { ask, service } = await letterApi();
      const before = service.calls.length + service.sets.length;
      const headers = { 'carillon-version': '1794765600000.4097' };
      const answer = await ask(change.method, change.path, { body: change.body, headers });
      expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('Carillon-Seen')]);
      expect(service.calls.length + service.sets.length).toBe(before);
    },
  );

  test.each([...changes, batch])(
    '$method $path: the version that the client has seen is taken in before anything is done',
    async (change) => {
      const { ask, service } = await letterApi();
      const before = service.calls.length + service.sets.length;
      const headers = { 'carillon-seen': '1794765600000.4097' };
      await ask(change.method, change.path, { body: change.body, headers });
      expect(service.calls[0]).toEqual({
        name: 'saw',
        argument: { versionMs: 1_794_765_600_000, versionTie: 4097 },
      });
      expect(service.calls.length + service.sets.length).toBe(before + 2);
    },
  );

  test.each(reads)('GET %s does not look at it', async (path) => {
    const { ask, service } = await letterApi();
    const headers = { 'carillon-seen': 'anything' };
    expect((await ask('GET', path, { headers })).status).toBe(200);
    expect(service.calls.some(({ name }) => name === 'saw')).toBe(false);
  });

  test.each([
    '',
    '1',
    '.1',
    '1.',
    '1.2.3',
    '-1.2',
    '01.2',
    '1.02',
    '1e3.1',
    ' 1.1',
    '1.1, 1.2',
    '9007199254740993.1',
    '1.4294967296',
    '1.99999999999',
    'é.1',
  ])('%j is 400, and nothing is done', async (seen) => {
    const { ask, service } = testApi();
    const answer = await ask('POST', '/timers', { body, headers: { 'carillon-seen': seen } });
    expect([answer.status, service.sets, service.calls]).toEqual([400, [], []]);
    expect(answer.body).toContain('Carillon-Seen');
  });
});

test('an unconfirmed change may have been stored: the answer carries its version too', async () => {
  const { ask, service } = testApi();
  const version = { versionMs: 9, versionTie: 2 };
  service.answer = () => ({
    ok: false,
    error: new CarillonError('no_copies', 'Nobody confirmed.', { version }),
  });
  const one = await ask('POST', '/timers', { body });
  expect([one.status, headerIn(one, 'carillon-version')]).toEqual([503, '9.2']);
  const many = await ask('POST', '/timers/batch', { body: [body] });
  expect(JSON.parse(many.body)).toMatchObject([{ status: 503, version: '9.2' }]);
});

describe('a member', () => {
  const versionOf = (answer: Parameters<typeof header>[0]) => {
    const version = parseVersion(header(answer, 'carillon-version') ?? '');
    if (version === null) throw new Error('The answer has no version.');
    return version;
  };

  test('gives each change a higher version than the client has seen, also one far ahead of its clock', async () => {
    const { request, clock } = await startOne();
    const versionMs = clock.wall() + dayMs;
    const seen = { 'carillon-seen': `${versionMs}.4294967295` };
    const set = await request('POST', '/timers', body, seen);
    expect(set.status).toBe(200);
    const path = header(set, 'location') ?? '';
    const steps = [
      { versionMs, versionTie: 4_294_967_295 },
      versionOf(set),
      versionOf(await request('PUT', path, body)),
      versionOf(await request('DELETE', path)),
      versionOf(await request('DELETE', '/timers?tag=none')),
    ];
    for (const [i, version] of steps.entries()) {
      if (i > 0) expect(compareVersions(version, steps[i - 1] ?? version)).toBeGreaterThan(0);
    }
  });

  test('refuses a version more than a day ahead of its clock, and its versions stay where they were', async () => {
    const { request, clock } = await startOne();
    const seen = { 'carillon-seen': `${clock.wall() + dayMs + 1}.0` };
    const refused = await request('POST', '/timers', body, seen);
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.body)).toMatchObject({
      detail: expect.stringMatching(/more than a day ahead/),
    });
    const { versionMs } = versionOf(await request('POST', '/timers', body));
    expect(versionMs).toBeLessThanOrEqual(clock.wall());
  });

  test('takes back a version that it gave out itself, however far its clock was set back since', async () => {
    const { request, clock } = await startOne();
    const before = header(await request('POST', '/timers', body), 'carillon-version') ?? '';
    clock.wallOffsetMs -= 3 * dayMs;
    const after = await request('POST', '/timers', body, { 'carillon-seen': before });
    expect(after.status).toBe(200);
    expect(versionOf(after).versionMs).toBe(parseVersion(before)?.versionMs);
  });

  test('a batch: each item has its version, above the seen one', async () => {
    const { request, clock } = await startOne();
    const seenMs = clock.wall() + 5000;
    const answer = await request('POST', '/timers/batch', [body, body], {
      'carillon-seen': `${seenMs}.0`,
    });
    const items = JSON.parse(answer.body) as { version: string }[];
    for (const { version } of items) expect(parseVersion(version)?.versionMs).toBe(seenMs);
    expect(new Set(items.map(({ version }) => version)).size).toBe(2);
  });
});
