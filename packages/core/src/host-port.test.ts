import { expect, test } from 'vitest';
import { formatHostPort, parseHostPort, splitHostPort } from './host-port.ts';

test.each([
  ['127.0.0.1:7253', '127.0.0.1', 7253],
  ['[::1]:0', '::1', 0],
  ['[fe80::1:2.3.4.5]:65535', 'fe80::1:2.3.4.5', 65_535],
  ['carillon-0.carillon:80', 'carillon-0.carillon', 80],
])('%s is an address, and comes back as it was', (text, host, port) => {
  expect(parseHostPort(text)).toEqual({ host, port });
  expect(formatHostPort({ host, port })).toBe(text);
});

test.each([
  '',
  ':80',
  'a',
  'a:',
  'a:x',
  'a:65536',
  'a:123456',
  '::1:80',
  '[::1]',
  '[]:80',
  '[x]:80',
  'a b:80',
  'http://a:80',
  'a[b]:80',
])('%j is none', (text) => {
  expect(parseHostPort(text)).toBeNull();
  expect(() => splitHostPort(text)).toThrow('is not host:port');
});
