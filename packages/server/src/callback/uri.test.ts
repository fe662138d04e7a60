import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitUri, UriSplitter } from './uri.ts';

/** A splitter that has met these origins before. */
function acquainted(origins: readonly string[]): UriSplitter {
  const splitter = new UriSplitter();
  for (const origin of origins) expect(splitter.split(`${origin}/`)?.origin).toBe(origin);
  return splitter;
}

const characters = `abZ09-._~!$&'()*+,;=:@/%?#2eE\\ "<>[]ü`.split('');

describe('a uri is split', () => {
  it.each([
    ['http://a.example/x?y=1', 'http://a.example', '/x?y=1'],
    ['http://a.example', 'http://a.example', '/'],
    ['http://a.example?q', 'http://a.example', '/?q'],
    ['HTTP://A.Example:80/X', 'http://a.example', '/X'],
    ['https://a.example:443/', 'https://a.example', '/'],
    ['https://a.example:8443/#part', 'https://a.example:8443', '/'],
    ['http://[::1]:8080/a', 'http://[::1]:8080', '/a'],
    ['http://0x7f.1/a', 'http://127.0.0.1', '/a'],
    ['http://a.example/b/../c', 'http://a.example', '/c'],
    ['http://a.example/b/%2e%2E/c', 'http://a.example', '/c'],
    ["http://a.example/?q='", 'http://a.example', '/?q=%27'],
    ['http://a.example/ü b', 'http://a.example', '/%C3%BC%20b'],
    ['http://a.example\\@b.example/', 'http://a.example', '/@b.example/'],
  ])('%s', (uri, origin, path) => {
    expect(splitUri(uri)).toEqual({ origin, path });
    expect(new UriSplitter().split(uri)).toEqual({ origin, path });
    const splitter = acquainted([origin]);
    for (let i = 0; i < 2; i++) expect(splitter.split(uri)).toEqual({ origin, path });
  });

  it.each([
    '',
    '/a',
    'a.example',
    'ftp://a.example/',
    'file:///etc/passwd',
    'gopher://a/',
    'http://',
    'http://u@a.example/',
    'http://:p@a.example/',
    'http://a.example:99999/',
    'http://a b/',
    'javascript:1',
  ])('refuses %s', (uri) => {
    expect(splitUri(uri)).toBeNull();
    expect(new UriSplitter().split(uri)).toBeNull();
  });

  it('gives the same with and without a known origin, for any path', () => {
    const origins = ['http://a.example', 'https://b.example:8443', 'http://127.0.0.1:9'];
    const splitter = acquainted(origins);
    const rest = fc.string({ unit: fc.constantFrom(...characters) });
    fc.assert(
      fc.property(fc.constantFrom(...origins), rest, (origin, path) => {
        const uri = `${origin}/${path}`;
        expect(splitter.split(uri)).toEqual(splitUri(uri));
      }),
      { numRuns: 2000 },
    );
  });

  it('gives the same with and without a known origin, for any uri', () => {
    const splitter = acquainted(['http://a.example']);
    fc.assert(
      fc.property(fc.oneof(fc.webUrl(), fc.string()), (uri) => {
        expect(splitter.split(uri)).toEqual(splitUri(uri));
      }),
    );
  });
});
