import { expect, test } from 'vitest';
import { testApi } from '../stand-in.contract.ts';

interface Preview {
  timezone: string;
  pops: { due: string; local: string }[];
  more: boolean;
}

const cron = (more: object = {}) => ({
  timing: { cron: '30 2 * * *', timezone: 'Europe/Berlin', forever: true, ...more },
});

test('a timing alone tells its next five pops in UTC and in its zone', async () => {
  const { ask, service } = testApi();
  const response = await ask('POST', '/timers/preview', { body: cron() });
  expect(response.status).toBe(200);
  const { timezone, pops, more } = JSON.parse(response.body) as Preview;
  expect([timezone, pops.length, more]).toEqual(['Europe/Berlin', 5, true]);
  for (const { due, local } of pops) {
    expect(due).toMatch(/Z$/);
    expect(local).toMatch(/T02:30:00\.000\+0[12]:00$/);
    expect(Date.parse(local)).toBe(Date.parse(due));
  }
  expect(service.sets).toEqual([]);
});

test('local times can be asked for in another zone, which must be one', async () => {
  const { ask } = testApi();
  const body = { timing: { interval: 60 } };
  const asked = await ask('POST', '/timers/preview?timezone=Asia/Tokyo', { body });
  const { timezone, pops, more } = JSON.parse(asked.body) as Preview;
  expect([timezone, pops.length, more]).toEqual(['Asia/Tokyo', 1, false]);
  expect(pops[0]?.local).toMatch(/\+09:00$/);
  expect((await ask('POST', '/timers/preview?timezone=Mars/Base', { body })).status).toBe(400);
});

test.each([
  ['a timing that never pops', cron({ cron: '0 0 30 2 *' }), '/timing/cron'],
  ['a cron without an ending', { timing: { cron: '0 9 * * *' } }, '/timing/forever'],
  ['no timing', {}, '/timing'],
  ['a callback that is none', { timing: { interval: 1 }, callback: 7 }, '/callback'],
  [
    'a uri that is none',
    { timing: { interval: 1 }, callback: { http: { uri: 'x' } } },
    '/callback/http/uri',
  ],
])('%s is refused as a set would refuse it', async (_, body, pointer) => {
  const response = await testApi().ask('POST', '/timers/preview', { body });
  expect(response.status).toBe(400);
  expect(JSON.parse(response.body)).toMatchObject({ pointer });
});

test.each(['[]', 'null', '{', '7'])('the body %s is refused with a sentence', async (body) => {
  const { ask, bugs } = testApi();
  expect((await ask('POST', '/timers/preview', { body })).status).toBe(400);
  expect(bugs).toEqual([]);
});
