import type { ClusterMember } from '@carillon/client';
import { expect, test } from 'vitest';
import { memberUrl, shownAddress } from './cluster-member.ts';

const other = { name: 'n1', address: '10.0.0.2:7253', self: false } as ClusterMember;

test.each([
  ['http://10.0.0.1:7253', '10.0.0.2:7253', 'http://10.0.0.2:7253'],
  ['https://10.0.0.1:7253', 'https://10.0.0.2:7253', 'https://10.0.0.2:7253'],
])('asked at %s, another member is shown as %s and reached at %s', (server, shown, url) => {
  expect(shownAddress(other, [server])).toBe(shown);
  expect(memberUrl(other, [server])).toBe(url);
});

test('the member that was asked is reached as it was asked', () => {
  expect(memberUrl({ ...other, self: true }, ['http://localhost:1'])).toBe('http://localhost:1');
});
