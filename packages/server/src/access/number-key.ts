/**
 * The key that keeps namespaces from aiming at each other's numbers: 256 random bits in the tokens file, the same for
 * all members and for as long as the cluster lives, because journals hold numbers that follow from it. Pure.
 */
import { createHmac } from 'node:crypto';
import { KeyedNumbering, type Numbering, OpenNumbering } from '@carillon/core';

const keyBytes = 32;
const keyForm = /^[0-9a-f]{64}$/;

export const numberKeyRule = '64 hex digits';

/** `random` gives that many unpredictable bytes. */
export function newNumberKey(random: (length: number) => Buffer): string {
  return random(keyBytes).toString('hex');
}

export function isNumberKey(value: unknown): value is string {
  return typeof value === 'string' && keyForm.test(value);
}

/** null: without a key. */
export function numberingOf(key: string | null): Numbering {
  if (key === null) return new OpenNumbering();
  const secret = Buffer.from(key, 'hex');
  const bytes = (purpose: string): Buffer => createHmac('sha256', secret).update(purpose).digest();
  // 0 is for no key.
  const fingerprint = bytes('fingerprint').readUInt32BE(0) || 1;
  return new KeyedNumbering(fingerprint, (namespace) => bytes(`numbers of ${namespace}`));
}
