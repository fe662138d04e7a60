import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refuseHeader, refuseMethod, refuseRequest } from './callback-request.ts';

describe('refuseHeader', () => {
  it.each([
    ['content-type', 'text/plain; charset=utf-8'],
    ['authorization', 'Bearer x'],
    ['x-a', ''],
    ['x-a', 'caf\u00e9\t'],
    ['__proto__', 'x'],
  ])('lets %s: %s pass', (name, value) => expect(refuseHeader(name, value)).toBeNull());

  it.each([
    ['host', 'other.example'],
    ['content-length', '0'],
    ['transfer-encoding', 'chunked'],
    ['connection', 'close'],
    ['keep-alive', 'timeout=1'],
    ['upgrade', 'websocket'],
    ['expect', '100-continue'],
    ['te', 'trailers'],
    ['trailer', 'x'],
    ['proxy-authorization', 'x'],
    ['Host', 'other.example'],
    ['X-A', 'x'],
    ['', 'x'],
    ['a b', 'x'],
    ['a:b', 'x'],
    ['a\r\nb', 'x'],
    ['x-a', 'a\r\nb: c'],
    ['x-a', 'a\nb'],
    ['x-a', 'a\0'],
    ['x-a', '\u20ac'],
  ])('refuses %j: %j', (name, value) => expect(refuseHeader(name, value)).not.toBeNull());

  it('never lets a line end through, nor repeats a value', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 9 }), (name, value) => {
        const refusal = refuseHeader(name, value);
        if (refusal === null) expect(name + value).not.toMatch(/[\r\n\0]/);
        else expect(refusal).not.toContain(value);
      }),
    );
  });
});

describe('refuseMethod', () => {
  it.each(['POST', 'PUT', 'GET', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])(
    'lets %s pass',
    (method) => {
      expect(refuseMethod(method)).toBeNull();
    },
  );
  it.each(['CONNECT', 'TRACE', 'post', '', 'P OST', 'POST\r\n'])('refuses %j', (method) => {
    expect(refuseMethod(method)).not.toBeNull();
  });
});

describe('refuseRequest', () => {
  const request = {
    uri: '',
    split: null,
    namespace: 'default',
    method: 'POST',
    headers: {},
    body: new Uint8Array(),
    limitMs: 1,
  };

  it('looks at the method and at every header', () => {
    expect(refuseRequest({ ...request, headers: { 'x-a': '1', 'x-b': '2' } })).toBeNull();
    expect(refuseRequest({ ...request, method: 'TRACE' })).toMatch(/method/);
    expect(refuseRequest({ ...request, headers: { 'x-a': '1', host: 'x' } })).toMatch(/host/);
  });
});
