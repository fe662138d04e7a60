import { describe, expect, test } from 'vitest';
import { type Receive, receiversByAddress } from './addresses.ts';

const receive: Receive = () => new Response();

describe('the receiver of a callback', () => {
  const addresses = [
    'http://shop.test',
    'http://shop.test/orders',
    'http://shop.test/orders/late/',
    'http://other.test:8080/a',
  ];
  const receivers = addresses.map((address): [string, Receive] => [address, () => new Response()]);

  test.each([
    ['http://shop.test/', 'http://shop.test'],
    ['http://shop.test/x?y=/orders', 'http://shop.test'],
    ['http://shop.test/ordersome', 'http://shop.test'],
    ['http://shop.test/orders', 'http://shop.test/orders'],
    ['http://shop.test:80/orders/17?x=1', 'http://shop.test/orders'],
    ['http://shop.test/orders/late', 'http://shop.test/orders/late/'],
    ['http://shop.test/orders/late/17', 'http://shop.test/orders/late/'],
    ['http://other.test:8080/a/b', 'http://other.test:8080/a'],
    ['http://other.test:8080/b', null],
    ['http://other.test/a', null],
    ['https://shop.test/', null],
  ])('%s: the one with the longest address that fits, %s', (uri, address) => {
    for (const order of [receivers, receivers.toReversed()]) {
      const found = receiversByAddress(Object.fromEntries(order))(uri);
      expect(order.find(([, one]) => one === found)?.[0] ?? null).toBe(address);
    }
  });
});

test.each<[object | null, string]>([
  [{ 'shop.test': receive }, 'The address of a receiver must be the beginning of a URL such as'],
  [{ 'shop.test:80': receive }, 'http://shop.test/orders\', not "shop.test:80".'],
  [{ 'http://shop.test/?a=1': receive }, 'must be the beginning of a URL'],
  [{ 'http://shop.test/#a': receive }, 'must be the beginning of a URL'],
  [{ 'http://shop.test': 7 }, 'The receiver "http://shop.test" must be a function from Request to'],
  [{ 'http://shop.test': { receive } }, 'as receiver(…) makes it, not an object.'],
  [
    { 'http://shop.test': receive, 'http://shop.test/': receive },
    'The receivers "http://shop.test" and "http://shop.test/" have the same address.',
  ],
  [null, 'receivers must be an object of functions by address, not null.'],
])('receivers %j are refused: %s', (receivers, sentence) => {
  const call = () => receiversByAddress(receivers as Readonly<Record<string, Receive>>);
  expect(call).toThrow(TypeError);
  expect(call).toThrow(sentence);
});
