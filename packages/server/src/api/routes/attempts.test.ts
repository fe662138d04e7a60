import { expect, test } from 'vitest';
import { testApi } from '../stand-in.contract.ts';

test('GET of the attempts answers how callbacks went, or an empty list', async () => {
  const { ask, service } = testApi();
  const path = '/timers/00000019000000aa-2/attempts';
  expect(JSON.parse((await ask('GET', path)).body)).toEqual({ attempts: [], missing: [] });
  service.remembered = {
    attempts: [
      {
        sequence: 3,
        attempt: 2,
        atMs: 1_700_000_000_000,
        latenessMs: 1000.26,
        tookMs: 12,
        status: 503,
        failure: '5xx',
        detail: 'database is down',
        member: 'n1',
      },
    ],
    missing: ['n2'],
  };
  expect(JSON.parse((await ask('GET', path)).body)).toEqual({
    attempts: [
      {
        pop: 3,
        attempt: 2,
        at: '2023-11-14T22:13:20.000Z',
        'lateness-ms': 1000.3,
        'took-ms': 12,
        status: 503,
        failure: '5xx',
        detail: 'database is down',
        member: 'n1',
      },
    ],
    missing: ['n2'],
  });
  expect((await ask('GET', '/timers/nonsense/attempts')).status).toBe(404);
});

test('the short id that the dashboard shows is enough', async () => {
  const { ask } = testApi();
  expect((await ask('GET', '/timers/00000019000000aa/attempts')).status).toBe(200);
});
