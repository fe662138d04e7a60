import { expect, test } from 'vitest';
import * as anywhere from '../index.ts';
import { json, standIn } from '../testing/stand-in.ts';
import * as onNode from './index.ts';

test('on Node the library has the same names as elsewhere', () => {
  expect(Object.keys(onNode).toSorted()).toEqual(Object.keys(anywhere).toSorted());
});

test('a fetch of the caller carries the requests on Node, too', async () => {
  const { fetch, seen } = standIn(() => json({ cancelled: 1 }));
  const client = new onNode.Carillon({ members: ['http://a:1'], fetch, refresh: null });
  expect(await client.cancelByTag('x')).toBe(1);
  expect(seen).toHaveLength(1);
});
