import { expect, test } from 'vitest';
import { startOne } from '../testing/one-member.ts';

test('a cancel of all timers with a tag begins a bounded number of ends in one turn', async () => {
  const one = await startOne();
  const timer = {
    timing: { interval: 3600 },
    callback: { http: { uri: 'http://receiver.test/', opaque: '' } },
    tags: ['t'],
  };
  const ids = await one.request(
    'POST',
    '/timers/batch',
    Array.from({ length: 400 }, () => timer),
  );
  expect(JSON.parse(ids.body)).toHaveLength(400);
  let inTurn = 0;
  let most = 0;
  const { store } = one.member;
  const put = store.put.bind(store);
  store.put = (record) => {
    most = Math.max(most, ++inTurn);
    return put(record);
  };
  const soon = one.clock.soon.bind(one.clock);
  one.clock.soon = (fn) =>
    soon(() => {
      inTurn = 0;
      fn();
    });
  const answer = await one.request('DELETE', '/timers?tag=t');
  expect([answer.status, store.counts.live, most]).toEqual([200, 0, 50]);
  await one.stop();
});
