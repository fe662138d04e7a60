/** `POST /timers/ID/run` at a member: one callback of its own, and the timer stays as it was. */
import { expect, onTestFinished, test } from 'vitest';
import { header, startOne, timerBody } from './testing/one-member.ts';

async function started(options: Parameters<typeof startOne>[0] = {}) {
  const one = await startOne(options);
  onTestFinished(() => one.stop());
  const set = await one.request('POST', '/timers', { ...timerBody(600), tags: ['orders'] });
  return { ...one, path: header(set, 'location') ?? '' };
}

test('running a timer calls its receiver at once, under a new id, and the timer keeps its due time', async () => {
  const { path, request, clock, receivers } = await started();
  const before = (await request('GET', path)).body;
  const answer = await request('POST', `${path}/run`);
  const made = header(answer, 'location') ?? '';
  expect(answer.status).toBe(200);
  expect(made.split('/').at(-1)?.slice(0, 16)).not.toBe(path.split('/').at(-1)?.slice(0, 16));
  await clock.advance(100);
  expect(receivers.calls).toHaveLength(1);
  expect((await request('GET', path)).body).toBe(before);
  expect((await request('GET', made)).status).toBe(404);
});

test('the same idempotency key is one callback', async () => {
  const { path, request, clock, receivers } = await started();
  const headers = { 'idempotency-key': 'now 1' };
  const first = await request('POST', `${path}/run`, undefined, headers);
  await clock.advance(100);
  const again = await request('POST', `${path}/run`, undefined, headers);
  await clock.advance(100);
  expect([first.status, again.status]).toEqual([200, 200]);
  expect(header(again, 'location')).toBe(header(first, 'location'));
  expect(receivers.calls).toHaveLength(1);
});

test('a namespace that has all the timers it may have is refused', async () => {
  const config = { namespaces: { '*': { timerCountMax: 1 } } };
  const { path, request } = await started({ config });
  expect((await request('POST', `${path}/run`)).status).toBe(429);
});
