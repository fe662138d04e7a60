/** Requests of Chronos clients, beyond the documented API of Chronos, work as they do there. */
import { expect, test } from 'vitest';
import { header, startOne, timerBody } from './testing/one-member.ts';

test('tag-info: a count that is left out is 1, and entries that are none are skipped', async () => {
  const { request } = await startOne();
  const given = [
    { type: 'CALL' },
    { type: 'REG', count: 3 },
    { count: 4 },
    { type: 5, count: 1 },
    { type: 'X', count: -1 },
    { type: 'Y', count: 1.5 },
    'Z',
    null,
  ];
  const set = await request('POST', '/timers', {
    ...timerBody(60),
    statistics: { 'tag-info': given },
  });
  expect(set.status).toBe(200);
  const shown = JSON.parse((await request('GET', header(set, 'location') ?? '')).body);
  expect(shown.statistics['tag-info']).toEqual([
    { type: 'CALL', count: 1 },
    { type: 'REG', count: 3 },
  ]);
});

test('callbacks have a Content-Type: that of bytes, unless the timer names another', async () => {
  const { request, clock, receivers } = await startOne();
  const typed = timerBody(1);
  await request('POST', '/timers', timerBody(1));
  await request('POST', '/timers', {
    ...typed,
    callback: { http: { ...typed.callback.http, headers: { 'Content-Type': 'text/plain' } } },
  });
  await request('POST', '/timers', timerBody(1, { opaque: '' }));
  await clock.advance(2000);
  const types = receivers.calls.map(({ request: { headers } }) => headers['content-type']);
  expect(types).toEqual(['application/octet-stream', 'text/plain', undefined]);
});

const number = '00000000000004d2';

test.each([number, `${number}0000204080102040`])(
  'an id without a factor (%s) makes a timer of factor 2, and finds it again',
  async (id) => {
    const { request } = await startOne();
    const put = await request('PUT', `/timers/${id}`, timerBody(60));
    expect(header(put, 'location')).toMatch(/^\/timers\/00000000000004d2[0-9a-f]{16}-2$/);
    const shown = JSON.parse((await request('GET', `/timers/${id}`)).body);
    expect(shown.reliability['replication-factor']).toBe(2);
    expect((await request('DELETE', `/timers/${id}`)).status).toBe(200);
    expect((await request('GET', `/timers/${number}-2`)).status).toBe(404);
  },
);

test('an id without a factor takes the factor of its timer, or of the body where there is no timer', async () => {
  const { request } = await startOne();
  const reliability = { 'replication-factor': 3 };
  const made = await request('PUT', `/timers/${number}`, { ...timerBody(60), reliability });
  expect(header(made, 'location')).toMatch(/-3$/);
  const replaced = await request('PUT', `/timers/${number}`, timerBody(70));
  expect(header(replaced, 'location')).toMatch(/-3$/);
  const gone = await request('DELETE', `/timers/${number}`);
  expect(header(gone, 'location')).toMatch(/-3$/);
  expect((await request('GET', `/timers/${number}-3`)).status).toBe(404);
});

test.each([
  '4d2',
  `${number}0`,
  `${number}-`,
  `${number}-17`,
  number.toUpperCase().replace('4', 'G'),
])('a text that is no id stays none: %s', async (id) => {
  const { request } = await startOne();
  for (const method of ['PUT', 'GET', 'DELETE']) {
    const body = method === 'PUT' ? timerBody(60) : undefined;
    expect((await request(method, `/timers/${id}`, body)).status).toBe(404);
  }
});
