/** IP addresses and ranges as bytes, so that every spelling of an address is the same address. */
import { isIPv4, isIPv6 } from 'node:net';

/** Four bytes, or sixteen. */
export type Address = Uint8Array;

export interface Range {
  readonly start: Address;
  readonly bits: number;
}

const mapped = range('::ffff:0.0.0.0/96');
const nat64 = range('64:ff9b::/96');

/**
 * The address a connection to `text` ends at, or null when the text is no address. IPv4 inside IPv6, mapped or
 * behind the well-known NAT64 prefix, gives the IPv4 address.
 */
export function parseAddress(text: string): Address | null {
  if (isIPv4(text)) return Uint8Array.from(text.split('.'), Number);
  // A zone (`%eth0`) only chooses the interface.
  const plain = text.split('%', 1)[0] as string;
  if (!isIPv6(plain)) return null;
  const bytes = parseIPv6(plain);
  return inRange(bytes, mapped) || inRange(bytes, nat64) ? bytes.subarray(12) : bytes;
}

/** `10.0.0.0/8`, `fd00::/8`, or one address; null when the text is neither. */
export function parseRange(text: string): Range | null {
  const [addressText = '', bitsText, rest] = text.split('/');
  if (rest !== undefined || addressText.includes('%')) return null;
  const start = isIPv4(addressText) || isIPv6(addressText) ? bytesOf(addressText) : null;
  if (start === null) return null;
  if (bitsText === undefined) return { start, bits: start.length * 8 };
  const bits = /^[0-9]{1,3}$/.test(bitsText) ? Number(bitsText) : Number.NaN;
  return bits <= start.length * 8 ? { start, bits } : null;
}

/** `parseRange` for texts that are part of the program. */
export function range(text: string): Range {
  const parsed = parseRange(text);
  if (parsed === null) throw new Error(`"${text}" is not a range of addresses.`);
  return parsed;
}

export function inRange(address: Address, { start, bits }: Range): boolean {
  if (address.length !== start.length) return false;
  const whole = bits >> 3;
  for (let i = 0; i < whole; i++) if (address[i] !== start[i]) return false;
  const left = bits & 7;
  if (left === 0) return true;
  const shift = 8 - left;
  return (address[whole] as number) >> shift === (start[whole] as number) >> shift;
}

export function sameAddress(a: Address, b: Address): boolean {
  return inRange(a, { start: b, bits: b.length * 8 });
}

function bytesOf(text: string): Address {
  return isIPv4(text) ? Uint8Array.from(text.split('.'), Number) : parseIPv6(text);
}

/** `text` is known to be IPv6 without a zone. */
function parseIPv6(text: string): Address {
  const [head = '', tail] = text.split('::');
  const front = groups(head);
  const back = tail === undefined ? [] : groups(tail);
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  front.forEach((group, i) => view.setUint16(2 * i, group));
  back.forEach((group, i) => view.setUint16(16 - 2 * (back.length - i), group));
  return bytes;
}

function groups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((part) => {
    if (!part.includes('.')) return [Number.parseInt(part, 16)];
    const [a, b, c, d] = part.split('.').map(Number) as [number, number, number, number];
    return [(a << 8) | b, (c << 8) | d];
  });
}
