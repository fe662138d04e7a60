/**
 * Names of headers in lower case. The common ones are kept, so that a request does not make them anew; finding one costs a hash of
 * its bytes and a comparison.
 */
import { lowerBytes } from './http-syntax.ts';

const common = [
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'cache-control',
  'carillon-namespace',
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
for (const name of common) slots[slotOf(Buffer.from(name), 0, name.length)] = name;

/** The name that `bytes` spell between the two indexes, where all are token bytes. */
export function headerName(bytes: Buffer, from: number, to: number): string {
  const name = slots[slotOf(bytes, from, to)];
  if (name !== undefined && spells(name, bytes, from, to)) return name;
  return bytes.toString('latin1', from, to).toLowerCase();
}

function slotOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = to - from;
  for (let i = from; i < to; i++)
    hash = (Math.imul(hash, 31) + (lowerBytes[bytes[i] as number] as number)) | 0;
  return (hash ^ (hash >>> 8)) & (slotCount - 1);
}

function spells(name: string, bytes: Uint8Array, from: number, to: number): boolean {
  if (name.length !== to - from) return false;
  for (let i = from; i < to; i++)
    if (lowerBytes[bytes[i] as number] !== name.charCodeAt(i - from)) return false;
  return true;
}
