/**
 * The trace of a request that an ended timer keeps under an idempotency key: a digest of its definition instead of the
 * definition, so that a timer of 64 KiB leaves 33 bytes for the day on which its key is remembered.
 *
 * A digest begins with the byte that ends a definition. No definition is empty, so none begins with it.
 */
import { hash } from 'node:crypto';
import { invariant, isKeyed, State, type TimerRecord, withoutTrace } from '@carillon/core';

const marker = 0;
const bytesCount = 33;

export function requestDigest(definition: Uint8Array): Uint8Array {
  invariant(definition[0] !== marker, 'a digest is made of a definition, not of a digest');
  const digest = new Uint8Array(bytesCount);
  digest.set(hash('sha256', withoutTrace(definition), 'buffer'), 1);
  return digest;
}

export function isDigest(body: Uint8Array): boolean {
  return body.length === bytesCount && body[0] === marker;
}

/**
 * Whether a record was set by a request with this definition. The trace does not count: a client that tries again may
 * do so under another span. `kept`: the record's body, a definition or a digest of one.
 */
export function isOfRequest(kept: Uint8Array, definition: Uint8Array): boolean {
  if (isDigest(kept)) return Buffer.compare(kept, requestDigest(definition)) === 0;
  return Buffer.compare(withoutTrace(kept), withoutTrace(definition)) === 0;
}

/**
 * The incoming record, with the digest that `stored` gives it: a cancel does not know the definition that it ends, and
 * the key of a cancelled timer is remembered for as long as any other.
 */
export function keepingKey(incoming: TimerRecord, stored: TimerRecord): TimerRecord {
  if (incoming.state !== State.tombstone || incoming.body.length > 0) return incoming;
  const { state, body } = stored;
  if (isDigest(body)) return { ...incoming, body };
  if (state !== State.live || !isKeyed(body)) return incoming;
  return { ...incoming, body: requestDigest(body) };
}
