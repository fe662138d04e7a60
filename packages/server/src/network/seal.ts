/**
 * The seal on each frame of a connection whose ends share a secret: 16 bytes that only they can make, over the frame
 * and its place in the order. A frame that was altered, left out, repeated or comes from another connection does not
 * fit. It hides nothing; TLS does.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { RefusedPeerError } from './refusals.ts';

export const sealBytes = 16;
const headBytes = 16;

/** One direction of one connection; both ends hold one with the same key and count alike. */
export class Seal {
  private readonly key: KeyObject;
  private readonly head = Buffer.alloc(headBytes);
  private count = 0;

  constructor(key: Uint8Array) {
    this.key = createSecretKey(key);
  }

  /** The seal of the next frame. */
  next(id: number, content: Uint8Array): Uint8Array {
    this.head.writeUIntLE(this.count++, 0, 6);
    this.head.writeUInt32LE(id, 8);
    this.head.writeUInt32LE(content.length, 12);
    return createHmac('sha256', this.key)
      .update(this.head)
      .update(content)
      .digest()
      .subarray(0, sealBytes);
  }

  /** The content of the next frame without its seal. Throws RefusedPeerError when that does not fit. */
  open(id: number, sealed: Uint8Array): Uint8Array {
    const contentBytes = sealed.length - sealBytes;
    if (contentBytes >= 0) {
      const content = sealed.subarray(0, contentBytes);
      if (timingSafeEqual(this.next(id, content), sealed.subarray(contentBytes))) return content;
    }
    throw new RefusedPeerError('altered', 'A frame was altered on its way.');
  }
}
