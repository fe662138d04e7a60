import { describe, expect, test } from 'vitest';
import { headerIn, testApi } from './stand-in.contract.ts';
import { refuseUnknown, slipFor, unknownMembers, warningHeaders } from './unknown-members.ts';

const timing = { interval: 1 };
const http = { uri: 'http://r.test/' };

test.each<[object, string, string | null]>([
  [
    { timing: { ...timing, repeat_for: 5 }, callback: { http } },
    '/timing/repeat_for',
    '/timing/repeat-for',
  ],
  [{ timing, callback: { http }, tag: ['x'] }, '/tag', '/tags'],
  [
    { timing, callback: { http: { ...http, retry: {} } } },
    '/callback/http/retry',
    '/callback/retry',
  ],
  [{ timing, callback: { http }, interval: 3 }, '/interval', '/timing/interval'],
  [
    { timing, callback: { http: { ...http, url: 'x' } } },
    '/callback/http/url',
    '/callback/http/uri',
  ],
  [
    { timing, callback: { http, retry: { maxAttempts: 3 } } },
    '/callback/retry/maxAttempts',
    '/callback/retry/max-attempts',
  ],
  [{ timing, callback: { http }, 'a/b~c': 1 }, '/a~1b~0c', null],
])('%j: %s is told, with %s as the nearest known word', (body, pointer, near) => {
  expect(unknownMembers(body)).toEqual([{ pointer, near }]);
});

test.each<[object, string, string]>([
  [{ callback: { http: { url: 'x' } } }, '/callback/http/uri', '/callback/http/url'],
  [{ timming: timing, callback: { http } }, '/timing', '/timming'],
  [{ timing: { intervall: 2 } }, '/timing', '/timing/intervall'],
  [{ interval: 2, callback: { http } }, '/timing', '/interval'],
])('%j: where %s is missing, %s was probably meant', (body, missing, slip) => {
  expect(slipFor(body, missing)).toMatch(
    new RegExp(`^ A timer has no member ${slip}\\. Did you mean ${missing}`),
  );
});

test('a missing member that no other member is near gets no hint', () => {
  expect(slipFor({ timing, callback: { http: {} } }, '/callback/http/uri')).toBe('');
  expect(slipFor({ timing, tag: [], callback: { http: {} } }, '/callback/http/uri')).toBe('');
});

test('a body whose members are all known has none; names of headers and tag-info are free', () => {
  const body = {
    timing: { interval: 1, 'repeat-for': 5 },
    callback: { http: { ...http, headers: { 'x-any': 'name' } }, retry: { base: 1 } },
    reliability: { 'replication-factor': 2 },
    statistics: { 'tag-info': [{ type: 'x', count: 1, other: 2 }] },
    tags: ['x'],
  };
  expect(unknownMembers(body)).toEqual([]);
  expect(warningHeaders([])).toEqual([]);
  expect(() => refuseUnknown(body)).not.toThrow();
});

test('the header is printable ASCII, short, and there are few of them', () => {
  const body = Object.fromEntries(
    Array.from({ length: 9 }, (_, i) => [`ü\n${'x'.repeat(900)}${i}`, 1]),
  );
  const headers = warningHeaders(unknownMembers({ timing, callback: { http }, ...body }));
  expect(headers).toHaveLength(8);
  for (const text of headers) expect(text).toMatch(/^[\x20-\x7e]{1,200}$/);
});

test('a strict body is refused with the pointer and the nearest name', () => {
  const body = { timing, callback: { http }, tag: ['x'] };
  expect(() => refuseUnknown(body)).toThrow(
    expect.objectContaining({
      code: 'bad_request',
      pointer: '/tag',
      message: 'A timer has no member /tag. Did you mean /tags?',
    }),
  );
});

describe('a set', () => {
  const body = { timing: { ...timing, repeat_for: 60 }, callback: { http } };
  const told =
    'A timer has no member /timing/repeat_for, it has no effect. Did you mean /timing/repeat-for?';

  test('with a member that no timer has is confirmed, and the answer tells of it', async () => {
    const { ask, service } = testApi();
    const answer = await ask('POST', '/timers', { body });
    expect([answer.status, headerIn(answer, 'carillon-warning')]).toEqual([200, told]);
    const id = '0000000000000001-2';
    expect(headerIn(await ask('PUT', `/timers/${id}`, { body }), 'carillon-warning')).toBe(told);
    const right = { timing, callback: { http } };
    expect(headerIn(await ask('POST', '/timers', { body: right }), 'carillon-warning')).toBe(
      undefined,
    );
    expect(service.sets).toHaveLength(3);
  });

  test('in a batch tells of the first item that has one', async () => {
    const { ask } = testApi();
    const items = [{ timing, callback: { http } }, { change: 'set', timer: body }, body];
    const answer = await ask('POST', '/timers/batch', { body: items });
    expect(headerIn(answer, 'carillon-warning')).toContain('/1/timer/timing/repeat_for');
    expect(answer.headers.filter((text) => text === 'carillon-warning')).toHaveLength(1);
  });

  test('is refused where the namespace is strict, alone and in a batch', async () => {
    const { ask, service } = testApi({ namespaces: { default: { strict: true } } });
    const alone = await ask('POST', '/timers', { body });
    expect(JSON.parse(alone.body)).toMatchObject({ status: 400, pointer: '/timing/repeat_for' });
    const batch = await ask('POST', '/timers/batch', { body: [{ change: 'set', timer: body }] });
    expect(JSON.parse(batch.body)).toMatchObject([
      { status: 400, pointer: '/timer/timing/repeat_for' },
    ]);
    expect(service.sets).toEqual([]);
  });
});
