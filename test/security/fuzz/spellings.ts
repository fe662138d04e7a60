/** Addresses that callbacks must not reach, in all the ways that URLs let them be written. */
import type { SeededRandom } from '@carillon/core/testing';

/** Ranges that are forbidden: their first address and how many bits are free. */
const forbidden: readonly (readonly [number, number])[] = [
  [0x00000000, 24],
  [0x0a000000, 24],
  [0x64400000, 22],
  [0x7f000000, 24],
  [0xa9fe0000, 16],
  [0xac100000, 20],
  [0xc0a80000, 16],
  [0xc6120000, 17],
  [0xe0000000, 28],
  [0xf0000000, 28],
];
/** Where clouds give out secrets. */
const metadata = [0xa9fea9fe, 0xa9feaa02, 0xa83f8110, 0x646464c8];

export function anyAddress(random: SeededRandom): number {
  if (random.chance(0.2)) return random.pick(metadata);
  const [start, bits] = random.pick(forbidden);
  return (start + random.between(0, 2 ** bits - 1)) >>> 0;
}

const octets = (address: number): number[] =>
  [24, 16, 8, 0].map((shift) => (address >>> shift) & 255);
const groups = (address: number): string =>
  `${(address >>> 16).toString(16)}:${(address & 0xffff).toString(16)}`;
const six = (text: string): string => `[${text}]`;
/** A number as C reads it. */
const number = (value: number, random: SeededRandom): string => {
  const padding = '0'.repeat(random.between(0, 3));
  return random.pick([
    String(value),
    `0x${padding}${value.toString(16)}`,
    `0${padding}${value.toString(8)}`,
  ]);
};
const fullWidth = (text: string): string =>
  text.replaceAll(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
const percent = (text: string): string =>
  text.replaceAll(/[0-9.]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
const upper = (text: string, random: SeededRandom): string =>
  random.chance(0.5) ? text.toUpperCase() : text;

const hosts: readonly ((address: number, random: SeededRandom) => string)[] = [
  (address) => octets(address).join('.'),
  (address) => `${octets(address).join('.')}.`,
  (address, random) =>
    octets(address)
      .map((one) => number(one, random))
      .join('.'),
  (address, random) => number(address, random),
  (address, random) => `${number(address >>> 24, random)}.${number(address & 0xffffff, random)}`,
  (address, random) => {
    const [a = 0, b = 0] = octets(address);
    return `${number(a, random)}.${number(b, random)}.${number(address & 0xffff, random)}`;
  },
  (address) => fullWidth(octets(address).join('.')),
  (address) => octets(address).join('。'),
  (address) => percent(octets(address).join('.')),
  (address) => six(`::ffff:${octets(address).join('.')}`),
  (address, random) => six(upper(`::ffff:${groups(address)}`, random)),
  (address, random) => six(upper(`0:0:0:0:0:ffff:${groups(address)}`, random)),
  (address) => six(`::${groups(address)}`),
  (address) => six(`64:ff9b::${octets(address).join('.')}`),
  (address) => six(`64:ff9b::${groups(address)}`),
  (address) => six(`64:ff9b:1::${groups(address)}`),
  (address) => six(`2002:${groups(address)}::1`),
  (address) => six(`2001:0:${groups(address)}::1`),
  (address) => six(`::ffff:0:${groups(address)}`),
  (_, random) =>
    random.pick([
      '[::1]',
      '[::]',
      '[0:0:0:0:0:0:0:1]',
      '[fe80::1]',
      '[fc00::1]',
      '[fd00:ec2::254]',
      '[ff02::1]',
    ]),
];
const before = ['', '', '', 'user@', 'user:word@', '8.8.8.8@', 'a%40b@'];
const schemes = [
  'http://',
  'http://',
  'https://',
  'HTTP://',
  'http:/',
  'http:\\\\',
  'ftp://',
  '//',
];

/** A url of a forbidden address. */
export function spelled(
  random: SeededRandom,
  port: number,
  choose: (random: SeededRandom) => number = anyAddress,
): string {
  const host = random.pick(hosts)(choose(random), random);
  return `${random.pick(schemes)}${random.pick(before)}${host}:${port}/`;
}
