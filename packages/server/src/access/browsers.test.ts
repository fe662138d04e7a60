import { describe, expect, test } from 'vitest';
import { testApi } from '../api/stand-in.contract.ts';
import { Browsers } from './browsers.ts';

const rules = { origins: ['https://app.example'], hosts: ['timers.example'] };
const browsers = new Browsers(rules);

function asked(method: string, headers: Record<string, string>) {
  return { method, path: '/timers', query: '', headers, body: new Uint8Array() };
}

describe('without tokens the Host must be one of this member', () => {
  test.each([
    ['127.0.0.1:7253', true],
    ['[::1]:7253', true],
    ['10.1.2.3', true],
    ['localhost:7253', true],
    ['LOCALHOST', true],
    ['carillon-1:7253', false],
    ['printer', false],
    ['localhost.', false],
    ['notlocalhost', false],
    ['1.2.3', false],
    ['[::1', false],
    ['timers.localhost:7253', true],
    ['timers.example:7253', true],
    ['Timers.Example', true],
    ['', false],
    [':7253', false],
    ['evil.example:7253', false],
    ['timers.example.evil.example', false],
    ['127.0.0.1.evil.example', false],
    ['evil.example.', false],
  ])('%j: %j', (host, allowed) => {
    const request = asked('GET', { host });
    expect(browsers.refuse(request, false) === null).toBe(allowed);
    expect(browsers.refuse(request, true)).toBeNull();
  });

  test('the title of a refusal says nothing of a token', () => {
    const stranger = browsers.refuse(asked('GET', { host: 'evil.example' }), false);
    expect(stranger?.title).toBe('The member is asked by a name that is not its own');
    const page = { host: '127.0.0.1', origin: 'http://evil.example' };
    expect(browsers.refuse(asked('GET', page), false)?.title).toBe(
      'Pages of this origin may not ask',
    );
  });

  test('a request without a Host is of no browser', () => {
    expect(browsers.refuse(asked('GET', {}), false)).toBeNull();
  });
});

describe('with tokens or without, a page of another origin is refused', () => {
  const host = '127.0.0.1:7253';
  test.each<[string, string, Record<string, string>, boolean]>([
    ['no browser', 'POST', {}, true],
    ['a page from here', 'POST', { origin: `http://${host}` }, true],
    ['a page from here by TLS in front', 'POST', { origin: `https://${host}` }, true],
    [
      'a page from behind a proxy that changes the Host',
      'POST',
      { origin: 'https://public.example', 'sec-fetch-site': 'same-origin' },
      true,
    ],
    ['an address typed in', 'GET', { 'sec-fetch-site': 'none' }, true],
    [
      'a link',
      'GET',
      {
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
      },
      true,
    ],
    [
      'a frame',
      'GET',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      false,
    ],
    [
      'a form',
      'POST',
      {
        origin: 'https://evil.example',
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
      },
      false,
    ],
    ['an image', 'GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, false],
    ['another port of this machine', 'GET', { 'sec-fetch-site': 'same-site' }, false],
    ['an older browser', 'POST', { origin: 'https://evil.example' }, false],
    ['a page without an origin', 'POST', { origin: 'null' }, false],
    [
      'a listed page',
      'POST',
      { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' },
      true,
    ],
    ['almost a listed page', 'POST', { origin: 'https://app.example.evil.example' }, false],
  ])('%s', (_, method, headers, allowed) => {
    const request = asked(method, { host, ...headers });
    for (const needsToken of [true, false]) {
      expect(browsers.refuse(request, needsToken) === null).toBe(allowed);
    }
  });
});

test('every route refuses it, before its body and after, and so do open routes', async () => {
  const { ask, router } = testApi();
  const headers = { host: '127.0.0.1', origin: 'https://evil.example' };
  for (const [method, path] of [
    ['POST', '/timers'],
    ['GET', '/timers'],
    ['GET', '/ping'],
    ['GET', '/nowhere'],
    ['OPTIONS', '/timers'],
  ] as const) {
    const { status, headers: answered } = await ask(method, path, { headers });
    expect([status, answered.includes('access-control-allow-origin')]).toEqual([403, false]);
  }
  expect(router.refuseEarly(asked('POST', headers))?.status).toBe(403);
});

test('a listed page is answered as CORS has it, also where it is refused for something else', async () => {
  const { ask } = testApi({ 'access.origins': rules.origins });
  const origin = 'https://app.example';
  const preflight = await ask('OPTIONS', '/timers', {
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
      'access-control-request-private-network': 'true',
    },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.join(' ')).toContain(
    'access-control-allow-headers authorization,content-type',
  );
  expect(preflight.headers.join(' ')).toContain('access-control-allow-private-network true');
  for (const path of ['/timers', '/timers/nothing', '/nowhere']) {
    const { headers } = await ask('GET', path, { headers: { origin } });
    const at = headers.indexOf('access-control-allow-origin');
    expect(headers[at + 1]).toBe(origin);
    expect(headers).toContain('access-control-expose-headers');
  }
  const plain = await ask('GET', '/timers');
  expect(plain.headers).not.toContain('access-control-allow-origin');
});
