import { expect, test } from 'vitest';
import { advertisedAddress } from './advertise.ts';

type Machine = NonNullable<Parameters<typeof advertisedAddress>[1]>;

function machine(...addresses: string[]): Machine {
  const list = addresses.map((address) => ({
    address,
    family: address.includes(':') ? ('IPv6' as const) : ('IPv4' as const),
    internal: address === '127.0.0.1' || address === '::1',
    netmask: '',
    mac: '',
    cidr: null,
    scopeid: 0,
  }));
  return () => Object.fromEntries(list.map((one, i) => [`e${i}`, [one]]));
}

test.each(['127.0.0.1:7253', '10.0.0.1:7253', '[::1]:7253', 'timers.example:80'])(
  '%s is told as it is',
  (listen) => expect(advertisedAddress(listen, machine('10.9.9.9'))).toBe(listen),
);

test.each([
  ['0.0.0.0:7253', ['127.0.0.1', '10.0.0.5', '10.0.0.6'], '10.0.0.5:7253'],
  ['0.0.0.0:7253', ['::1', 'fd00::5', '192.168.1.2'], '192.168.1.2:7253'],
  ['[::]:7253', ['::1', 'fd00::5', '192.168.1.2'], '192.168.1.2:7253'],
  ['[::]:7253', ['fe80::1', 'fd00::5'], '[fd00::5]:7253'],
  ['[0:0:0:0:0:0:0:0]:1', ['10.0.0.5'], '10.0.0.5:1'],
])('%s on a machine with %j is told as %s', (listen, addresses, expected) =>
  expect(advertisedAddress(listen, machine(...addresses))).toBe(expected),
);

test.each([
  ['0.0.0.0:7253', ['127.0.0.1']],
  ['0.0.0.0:7253', ['fd00::5']],
  ['[::]:7253', ['fe80::1']],
])('%s on a machine with only %j stays as it is: there is nothing better', (listen, addresses) =>
  expect(advertisedAddress(listen, machine(...addresses))).toBe(listen),
);
