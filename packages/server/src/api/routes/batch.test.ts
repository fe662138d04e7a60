/** Batches of changes that are named: set, replace and cancel. Batches of plain timers are tested beside the router. */
import { CarillonError } from '@carillon/core';
import { settle } from '@carillon/core/testing';
import { describe, expect, test } from 'vitest';
import type { SetRequest } from '../../request/service.ts';
import { headerIn, testApi, viewOf } from '../stand-in.contract.ts';

const id = '00000019000000010000000100000002-2';
const body = {
  timing: { interval: 30 },
  callback: { http: { uri: 'http://receiver/', opaque: 'x' } },
};
const bad = { ...body, timing: { interval: -1 } };

describe('a batch of changes', () => {
  test('sets, replaces and cancels, each by its name, in one batch; each has its own outcome', async () => {
    const { ask, service } = testApi();
    const other = '000000000000000a-2';
    const items = [
      { change: 'set', key: 'k 1', timer: body },
      { change: 'replace', id, timer: body },
      { change: 'set', timer: bad },
      { change: 'cancel', id: other },
      body,
    ];
    const response = await ask('POST', '/timers/batch', { body: items });
    expect(JSON.parse(response.body)).toEqual([
      expect.objectContaining({ status: 200, copies: '1/2', version: '7.1' }),
      { status: 200, id, copies: '1/2', version: '7.1' },
      expect.objectContaining({ status: 400, pointer: '/timer/timing/interval' }),
      { status: 200, id: other, copies: '2/2', version: '7.1' },
      expect.objectContaining({ status: 200 }),
    ]);
    expect(service.sets.map((set) => [set.id === null, set.idempotencyKey])).toEqual([
      [true, 'k 1'],
      [false, null],
      [true, null],
    ]);
    expect(service.sets[0]?.definition.idempotent).toBe(true);
    expect(service.calls.map(({ name }) => name)).toEqual(['cancel']);
  });

  test('timers that differ in any value are set as each would be by itself: none keeps a value of another', async () => {
    const timers = Array.from({ length: 40 }, (_, i) => ({
      timing: i % 3 === 0 ? { cron: `${i} * * * *`, count: i + 1 } : { interval: i },
      callback: {
        http: {
          uri: `http://receiver-${i}/`,
          opaque: `o${i}`,
          headers: { 'x-a': `a${i}`, 'x-b': `${i}` },
          timeout: 1 + i / 8,
        },
        retry: { 'max-attempts': i + 1, base: 1 + i },
        'on-failure': { uri: `http://failed-${i}/` },
      },
      tags: [`a${i}`, `b${i % 7}`],
      statistics: { 'tag-info': [{ type: `t${i}`, count: i }] },
    }));
    const together = testApi();
    await together.ask('POST', '/timers/batch', { body: timers });
    const alone = testApi();
    for (const timer of timers) await alone.ask('POST', '/timers', { body: timer });
    const definitions = ({ sets }: { sets: SetRequest[] }) => sets.map((set) => set.definition);
    expect(definitions(together.service)).toHaveLength(40);
    expect(definitions(together.service)).toEqual(definitions(alone.service));
  });

  test.each([
    [{ change: 'set' }, 400, '/timer'],
    [{ change: 'set', timer: { timing: {} } }, 400, '/timer/callback'],
    [{ change: 'set', key: '', timer: body }, 400, '/key'],
    [{ change: 'set', key: 'a\nb', timer: body }, 400, '/key'],
    [{ change: 'set', key: 7, timer: body }, 400, '/key'],
    [{ change: 'replace', timer: body }, 400, '/id'],
    [{ change: 'replace', id: 'nonsense', timer: body }, 404, undefined],
    [{ change: 'replace', id: '000000000000000a-2', timer: bad }, 400, '/timer/timing/interval'],
    [{ change: 'cancel', id: 7 }, 400, '/id'],
    [{ change: 'pop', id: '000000000000000a-2' }, 400, '/change'],
    [{ change: null }, 400, '/change'],
    [{ ...body, id: 'nonsense' }, 404, undefined],
    [{ ...body, id: 7 }, 400, '/id'],
    [{ ...bad, id }, 400, '/timing/interval'],
    [{ ...body, 'idempotency-key': '' }, 400, '/idempotency-key'],
    [{ cancel: 7 }, 400, '/cancel'],
    [{ cancel: 'nonsense' }, 404, undefined],
    [{ ...body, cancel: id }, 400, '/cancel'],
    [{ ...body, change: 'cancel', id }, 400, '/change'],
  ])(
    'the bad change %j has a status and a pointer into the item',
    async (item, status, pointer) => {
      const { ask, service } = testApi();
      const response = await ask('POST', '/timers/batch', { body: [body, item] });
      const [, outcome] = JSON.parse(response.body) as { status: number; pointer?: string }[];
      expect([outcome?.status, outcome?.pointer]).toEqual([status, pointer]);
      expect([service.sets.length, service.calls]).toEqual([1, []]);
    },
  );

  test('a refusal by the service points into the item too', async () => {
    const { ask, service } = testApi();
    const error = new CarillonError('bad_request', 'Never pops.', { pointer: '/timing' });
    service.answer = () => ({ ok: false, error });
    const items = [body, { change: 'set', timer: body }];
    const outcomes = JSON.parse((await ask('POST', '/timers/batch', { body: items })).body);
    expect(outcomes).toMatchObject([{ pointer: '/timing' }, { pointer: '/timer/timing' }]);
  });

  test('short forms: a body with an id replaces, { "cancel": ID } cancels, and each may have a key', async () => {
    const { ask, service } = testApi();
    const other = '000000000000000a-2';
    const items = [
      { ...body, 'idempotency-key': 'k 1' },
      { ...body, id, 'idempotency-key': 'k 2' },
      { cancel: other, 'idempotency-key': 'k 3' },
    ];
    const response = await ask('POST', '/timers/batch', { body: items });
    expect(headerIn(response, 'carillon-warning')).toBeUndefined();
    expect(JSON.parse(response.body)).toEqual([
      expect.objectContaining({ status: 200 }),
      { status: 200, id, copies: '1/2', version: '7.1' },
      { status: 200, id: other, copies: '2/2', version: '7.1' },
    ]);
    expect(service.sets.map((set) => [set.id === null, set.idempotencyKey])).toEqual([
      [true, 'k 1'],
      [false, null],
    ]);
    expect(service.calls.map(({ name }) => name)).toEqual(['cancel']);
  });

  test('a strict namespace takes the members of short forms, and refuses others beside them', async () => {
    const { ask, service } = testApi({ namespaces: { default: { strict: true } } });
    const items = [
      { ...body, id, 'idempotency-key': 'k' },
      { ...body, id, other: 1 },
    ];
    const outcomes = JSON.parse((await ask('POST', '/timers/batch', { body: items })).body);
    expect(outcomes).toMatchObject([{ status: 200 }, { status: 400, pointer: '/other' }]);
    expect(service.sets.length).toBe(1);
  });

  test('a key of the request is for the sets that have none of their own', async () => {
    const { ask, service } = testApi();
    const items = [
      { change: 'set', key: 'mine', timer: body },
      { change: 'set', timer: body },
    ];
    await ask('POST', '/timers/batch', { body: items, headers: { 'idempotency-key': 'k' } });
    expect(service.sets.map((set) => set.idempotencyKey)).toEqual(['mine', 'k\n1']);
  });

  test('changes of one timer wait for each other, in every form of its id; others do not', async () => {
    const { ask, service } = testApi();
    const log: string[] = [];
    const open: (() => void)[] = [];
    service.cancel = (_, { hi, lo, factor }) => {
      log.push(`cancel ${lo}`);
      return new Promise((resolve) => {
        open.push(() => {
          log.push(`cancelled ${lo}`);
          const copies = { have: 1, wanted: 1 };
          resolve({ id: `${hi}${lo}${factor}`, copies, version: { versionMs: 1, versionTie: 1 } });
        });
      });
    };
    const { answer } = service;
    service.answer = (request, number) => {
      log.push(`replace ${request.id?.lo}`);
      return answer(request, number);
    };
    const items = [
      { change: 'cancel', id: '000000000000000a-2' },
      { change: 'replace', id: '000000000000000affffffffffffffff-2', timer: body },
      { change: 'replace', id: '000000000000000b-2', timer: body },
      { change: 'cancel', id: '000000000000000a-2' },
    ];
    const answered = ask('POST', '/timers/batch', { body: items });
    await settle();
    expect(log).toEqual(['cancel 10', 'replace 11']);
    open.shift()?.();
    await settle();
    open.shift()?.();
    const outcomes = JSON.parse((await answered).body) as { status: number }[];
    expect(outcomes.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(log.slice(2)).toEqual(['cancelled 10', 'replace 10', 'cancel 10', 'cancelled 10']);
  });

  test('a change of an id without a factor finds the timer first', async () => {
    const { ask, service } = testApi();
    await ask('POST', '/timers', { body });
    const [set] = service.sets.splice(0);
    service.known = viewOf({ ...(set as SetRequest), factor: 3 }, 1);
    const items = [
      { change: 'replace', id: '000000000000000a', timer: body },
      { change: 'cancel', id: '000000000000000b' },
    ];
    const response = await ask('POST', '/timers/batch', { body: items });
    expect(response.body.match(/"status":200/g)).toHaveLength(2);
    expect(service.calls.map(({ name }) => name).toSorted()).toEqual(['cancel', 'get', 'get']);
    expect(service.sets[0]?.id?.factor).toBe(3);
  });

  test('an unconfirmed cancel has its own outcome, with the version', async () => {
    const { ask, service } = testApi();
    const version = { versionMs: 9, versionTie: 2 };
    const error = new CarillonError('no_copies', 'None.', { version });
    service.cancel = () => Promise.reject(error);
    const items = [{ change: 'cancel', id }, body];
    const outcomes = JSON.parse((await ask('POST', '/timers/batch', { body: items })).body);
    const refused = { status: 503, version: '9.2', 'retry-after': 1 };
    expect(outcomes).toMatchObject([refused, { status: 200 }]);
  });

  test('its timers may be nested as deep as single ones', async () => {
    const { ask } = testApi({ 'limits.jsonDepthMax': 4 });
    const named = (timer: object) => ({ body: [{ change: 'set', timer }] });
    const fits = await ask('POST', '/timers/batch', named({ ...body, other: [[[1]]] }));
    expect(fits.body).toContain('"status":200');
    const over = await ask('POST', '/timers/batch', named({ ...body, other: [[[[1]]]] }));
    expect(over.status).toBe(400);
  });
});
