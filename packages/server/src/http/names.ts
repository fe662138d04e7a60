/**
 * Names of headers in lower case. The common ones are kept, so that a request does not make them anew; finding one
 * costs a look at three of its letters and a comparison.
 */
import { invariant } from '@carillon/core';
import { lowerBytes } from './syntax.ts';

export const commonNames = [
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'cache-control',
  'carillon-namespace',
  'carillon-seen',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'idempotency-key',
  'origin',
  'referer',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'traceparent',
  'transfer-encoding',
  'user-agent',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-request-id',
];

const slotCount = 256;
const slots: (string | undefined)[] = Array.from({ length: slotCount });
for (const name of commonNames) {
  const slot = slotOf(Buffer.from(name), 0, name.length);
  invariant(slots[slot] === undefined, 'two names of headers have a slot each');
  slots[slot] = name;
}

/** The name that `bytes` spell between the two indexes, where all are token bytes. */
export function headerName(bytes: Buffer, from: number, to: number): string {
  const name = slots[slotOf(bytes, from, to)];
  if (name !== undefined && spells(name, bytes, from, to)) return name;
  return bytes.toString('latin1', from, to).toLowerCase();
}

/** From the length and three letters: the factors are such that all common names have a slot of their own. */
function slotOf(bytes: Uint8Array, from: number, to: number): number {
  const first = lowerBytes[bytes[from] as number] as number;
  const third = lowerBytes[bytes[Math.max(from, to - 3)] as number] as number;
  const last = lowerBytes[bytes[to - 1] as number] as number;
  return (to - from + 4 * first + 9 * third + last) & (slotCount - 1);
}

function spells(name: string, bytes: Uint8Array, from: number, to: number): boolean {
  if (name.length !== to - from) return false;
  for (let i = from; i < to; i++)
    if (lowerBytes[bytes[i] as number] !== name.charCodeAt(i - from)) return false;
  return true;
}
