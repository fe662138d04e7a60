import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inRange, parseAddress, parseRange, range, sameAddress } from './address.ts';

function hex(text: string): string | null {
  const address = parseAddress(text);
  return address === null ? null : Buffer.from(address).toString('hex');
}

describe('parseAddress', () => {
  it.each([
    ['1.2.3.4', '01020304'],
    ['255.255.255.255', 'ffffffff'],
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['1::', '00010000000000000000000000000000'],
    ['2001:db8::ff00:42:8329', '20010db8000000000000ff0000428329'],
    ['2001:DB8:0:0:0:FF00:42:8329', '20010db8000000000000ff0000428329'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['1:2:3:4:5:6:7::', '00010002000300040005000600070000'],
    ['::2:3:4:5:6:7:8', '00000002000300040005000600070008'],
    ['fe80::1%eth0', 'fe800000000000000000000000000001'],
    ['::1.2.3.4', '00000000000000000000000001020304'],
    ['2002:102:304::1', '20020102030400000000000000000001'],
  ])('%s', (text, expected) => expect(hex(text)).toBe(expected));

  it.each(['::ffff:1.2.3.4', '::FFFF:102:304', '0:0:0:0:0:ffff:1.2.3.4', '64:ff9b::1.2.3.4'])(
    '%s leads to 1.2.3.4',
    (text) => expect(hex(text)).toBe('01020304'),
  );

  it.each([
    '',
    'localhost',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '01.2.3.4',
    '1::2::3',
    '[::1]',
    ':::',
    '::1/64',
    '0x7f.1',
  ])('%s is no address', (text) => expect(parseAddress(text)).toBeNull());

  it('reads any address in any of its spellings as the same', () => {
    const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const long = groups.map((one) => one.toString(16).padStart(4, '0')).join(':');
        const short = new URL(`http://[${long}]/`).hostname.slice(1, -1);
        expect(hex(short)).toBe(hex(long.toUpperCase()));
      }),
    );
  });
});

describe('parseRange', () => {
  it.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['100.64.0.0/10', '100.127.255.255', true],
    ['100.64.0.0/10', '100.128.0.0', false],
    ['0.0.0.0/0', '9.9.9.9', true],
    ['0.0.0.0/0', '2001::1', false],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.3', '10.1.2.4', false],
    ['fd00::/8', 'fdff::1', true],
    ['fc00::/7', 'fe00::1', false],
    ['::/0', '2001::1', true],
    ['::1/128', '::1', true],
    ['::1/128', '::2', false],
  ])('%s and %s: %s', (text, address, expected) => {
    expect(inRange(parseAddress(address) as Uint8Array, range(text))).toBe(expected);
  });

  it.each([
    '',
    '10',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/8 ',
    '::/129',
    'fe80::%1/64',
    'a/8',
  ])('"%s" is no range', (text) => expect(parseRange(text)).toBeNull());

  it('of the program itself must be right', () => expect(() => range('10.0.0/8')).toThrow(/range/));
});

describe('sameAddress', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4', true],
    ['1.2.3.4', '::ffff:102:304', true],
    ['1.2.3.4', '1.2.3.5', false],
    ['1.2.3.4', '::1.2.3.4', false],
  ])('%s, %s: %s', (a, b, expected) => {
    expect(sameAddress(parseAddress(a) as Uint8Array, parseAddress(b) as Uint8Array)).toBe(
      expected,
    );
  });
});
