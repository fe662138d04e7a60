import { definitionOf } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { headerIn, type StandIn, testApi, viewOf } from '../stand-in.contract.ts';

const own = '00000019000000aa-2';

function know(service: StandIn): void {
  const definition = definitionOf({
    timing: { kind: 'cron', cron: '0 9 * * *', timezone: null, ending: { forever: true } } as never,
    uri: 'http://receiver/',
    opaque: 'x',
    method: 'PUT',
    headers: { a: 'b' },
    timeoutMs: 500,
    tags: ['orders'],
    tagInfo: [{ type: 'CALL', count: 1 }],
  });
  const request = { namespace: 'default', id: null, definition, factor: 3, idempotencyKey: null };
  service.known = viewOf(request, 1);
}

test('running a timer sets a new one with the same callback that pops once, at once', async () => {
  const { ask, service } = testApi();
  know(service);
  const response = await ask('POST', `/timers/${own}/run`);
  expect([response.status, response.body]).toEqual([200, '']);
  expect(headerIn(response, 'location')).toMatch(/^\/timers\//);
  expect(service.sets).toHaveLength(1);
  const [set] = service.sets;
  expect(set).toMatchObject({ id: null, factor: 3, idempotencyKey: null, namespace: 'default' });
  expect(set?.definition).toMatchObject({
    timing: { kind: 'interval', intervalMs: 0 },
    uri: 'http://receiver/',
    opaque: 'x',
    method: 'PUT',
    headers: { a: 'b' },
    timeoutMs: 500,
    tags: ['orders'],
    tagInfo: [],
    idempotent: false,
  });
});

test('an idempotency key makes repeating safe, and a bad one is refused', async () => {
  const { ask, service } = testApi();
  know(service);
  await ask('POST', `/timers/${own}/run`, { headers: { 'idempotency-key': 'k1' } });
  expect(service.sets[0]).toMatchObject({ idempotencyKey: 'k1', definition: { idempotent: true } });
  const bad = await ask('POST', `/timers/${own}/run`, { headers: { 'idempotency-key': 'ü' } });
  expect([bad.status, service.sets.length]).toEqual([400, 1]);
});

test('a timer that is not there cannot be run, and a timer that has ended says how it ended', async () => {
  const { ask, service } = testApi();
  expect((await ask('POST', '/timers/nonsense/run')).status).toBe(404);
  expect((await ask('POST', `/timers/${own}/run`)).status).toBe(404);
  service.end = { how: 'cancelled', atMs: 0, pops: 2, deadLetter: null };
  const gone = await ask('POST', `/timers/${own}/run`);
  expect([gone.status, JSON.parse(gone.body)]).toMatchObject([404, { ended: 'cancelled' }]);
  expect(service.sets).toEqual([]);
});

test('with Accept: application/json the answer is the new timer', async () => {
  const { ask, service } = testApi();
  know(service);
  const headers = { accept: 'application/json' };
  const response = await ask('POST', `/timers/${own}/run`, { headers });
  expect(JSON.parse(response.body)).toMatchObject({ timing: { interval: 0 }, state: 'pending' });
});
