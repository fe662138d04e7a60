import { expect, test } from 'vitest';
import { testApi } from '../stand-in.contract.ts';

test('rings are shown with their locks; without etcd there are none', async () => {
  const none = await testApi().ask('GET', '/locks');
  expect(JSON.parse(none.body)).toEqual({ connected: false, rings: [] });
  const lock = { key: 'export', holder: 'w-1', token: '167772161', waiters: ['w-2'] };
  const member = {
    id: 'w-1',
    phase: 'active',
    weight: 1,
    labels: {},
    address: '',
    peer: '',
  } as const;
  const status = {
    revision: 7,
    config: { version: 1, slots: 1024, placement: 'rendezvous' },
    members: [{ ...member, incarnation: 3, slots: 1000 }],
    free: 24,
    locks: [lock],
  };
  const away = { name: 'away', status: null, problem: 'etcd cannot be read: no answer' };
  const readRings = () => Promise.resolve([{ name: 'locks', status, problem: null }, away]);
  const answer = await testApi({}, readRings).ask('GET', '/locks');
  expect(answer.headers).toContain('no-store');
  const nothing = { slots: null, 'free-slots': null, members: [], 'lock-count': 0, locks: [] };
  expect(JSON.parse(answer.body)).toEqual({
    connected: true,
    rings: [
      {
        name: 'locks',
        problem: null,
        slots: 1024,
        'free-slots': 24,
        members: [{ name: 'w-1', phase: 'active', weight: 1, slots: 1000 }],
        'lock-count': 1,
        locks: [lock],
      },
      { name: 'away', problem: 'etcd cannot be read: no answer', ...nothing },
    ],
  });
});
