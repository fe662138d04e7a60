import { expect, test } from 'vitest';
import { callsIn } from './calls.ts';

const to = {
  uri: 'http://r1/pop',
  split: { origin: 'http://r1', path: '/pop' },
  namespace: 'default',
  method: 'POST',
  limitMs: 5000,
};
const line =
  '{"id":"66ddb6aa0024f0008400000000020284-2","sequence":3,"due":"2026-01-01T00:00:10.000Z",';

test('each line of a batch is a callback, named as it would be by itself', () => {
  const body = Buffer.from(
    `${line}"version":"1769850000000.4","attempt":1,"missed":2,"opaque":"a\\nb"}\n` +
      `${line}"version":"1769850000000.5","attempt":2,"opaque":""}\n`,
  );
  const calls = callsIn({ ...to, headers: { 'x-timer-count': '2' }, body }, 'm0', 17);
  const both = { by: 'm0', receiver: 'r1', startMs: 17, number: '66ddb6aa0024f000', sequence: 3 };
  expect(calls).toMatchObject([
    { ...both, popId: '66ddb6aa0024f000_1769850000000_4_3', missed: 2, attempt: 1, body: 'a\nb' },
    { ...both, popId: '66ddb6aa0024f000_1769850000000_5_3', missed: 0, attempt: 2, body: '' },
  ]);
});

test('a batch with fewer lines than it says is refused', () => {
  const body = Buffer.from(`${line}"version":"1.0","attempt":1,"opaque":""}\n`);
  const request = { ...to, headers: { 'x-timer-count': '2' }, body };
  expect(() => callsIn(request, 'm0', 17)).toThrow('A batch of 2 has 1 lines.');
});

test('any other request is one callback', () => {
  const headers = {
    'webhook-id': '66ddb6aa0024f000_1769850000000_4_3',
    'x-timer-id': '66ddb6aa0024f0008400000000020284-2',
    'x-sequence-number': '3',
    'x-timer-attempt': '1',
  };
  const [call] = callsIn({ ...to, headers, body: Buffer.from('x') }, 'm0', 17);
  expect(call).toMatchObject({ popId: headers['webhook-id'], sequence: 3, missed: 0, body: 'x' });
});
