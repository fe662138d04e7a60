/** Batches of changes at a member: order, keys and quotas, as far as the service takes part in them. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { header, type OneMember, startOne, timerBody } from './testing/one-member.ts';

let world: OneMember;
beforeEach(async () => {
  world = await startOne();
});
afterEach(() => world.stop());

interface Outcome {
  readonly status: number;
  readonly id: string;
  readonly version: string;
}

async function batch(items: readonly unknown[]): Promise<Outcome[]> {
  const answer = await world.request('POST', '/timers/batch', items);
  return JSON.parse(answer.body) as Outcome[];
}

test('batch: changes of one timer have versions in their order, and the last of them stands', async () => {
  const id = '000000000000000a-1';
  const replace = (seconds: number) => ({ change: 'replace', id, timer: timerBody(seconds) });
  const cancel = { change: 'cancel', id };
  const first = await batch([replace(10), cancel, replace(20)]);
  expect(first.map(({ status }) => status)).toEqual([200, 200, 200]);
  const versions = first.map(({ version }) => Number(version.split('.')[1]));
  expect(versions).toEqual(versions.toSorted((a, b) => a - b));
  const shown = await world.request('GET', `/timers/${id}`);
  expect(shown.body).toContain('"interval":20');
  await batch([replace(30), cancel]);
  expect((await world.request('GET', `/timers/${id}`)).status).toBe(404);
});

test('batch: a key of an item means the same timer as with a single set', async () => {
  const timer = timerBody(60);
  const [set] = await batch([{ change: 'set', key: 'order 17', timer }]);
  const again = await world.request('POST', '/timers', timer, { 'idempotency-key': 'order 17' });
  expect(header(again, 'location')).toBe(`/timers/${set?.id}`);
  const twice = await batch([
    { change: 'set', key: 'order 17', timer },
    { change: 'set', key: 'order 18', timer },
    { change: 'set', key: 'order 18', timer },
    { change: 'set', key: 'order 17', timer: timerBody(61) },
  ]);
  expect(twice.map(({ status }) => status)).toEqual([200, 200, 200, 422]);
  expect(twice[0]?.id).toBe(set?.id);
  expect(twice[1]?.id).toBe(twice[2]?.id);
});

test.each(['k/0', 'k 0', 'k0', 'k-0', 'k'])(
  'batch: the key of its items is none that a single set can have, such as %s',
  async (key) => {
    const timer = timerBody(60);
    const headers = { 'idempotency-key': 'k' };
    const answer = await world.request('POST', '/timers/batch', [timer], headers);
    const [item] = JSON.parse(answer.body) as Outcome[];
    const single = await world.request('POST', '/timers', timer, { 'idempotency-key': key });
    expect([item?.status, single.status]).toEqual([200, 200]);
    expect(header(single, 'location')).not.toBe(`/timers/${item?.id}`);
  },
);

test('batch: refused, repeated and new timers have their outcomes in order, and are counted once', async () => {
  const past = { ...timerBody(1), timing: { cron: '0 0 1 1 *', until: '1970-01-02T00:00:00Z' } };
  const keyed = { change: 'set', key: 'order 19', timer: timerBody(60) };
  const outcomes = await batch([timerBody(60), past, keyed, timerBody(61), keyed]);
  expect(outcomes.map(({ status }) => status)).toEqual([200, 400, 200, 200, 200]);
  expect(outcomes[2]?.id).toBe(outcomes[4]?.id);
  expect(new Set(outcomes.map(({ id }) => id)).size).toBe(4);
  const { body } = await world.request('GET', '/metrics');
  expect(body).toContain('carillon_timers{state="pending"} 3');
  expect(body).toContain('carillon_sets_total{result="created"} 4');
  expect(body).toContain('carillon_sets_total{result="repeated"} 1');
});
