import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Seal, sealBytes } from './seal.ts';

const key = new Uint8Array(32).fill(5);

function sealed(seal: Seal, id: number, content: Uint8Array): Buffer {
  return Buffer.concat([content, seal.next(id, content)]);
}

describe('Seal', () => {
  test('frames in their order are opened', () => {
    const [sender, receiver] = [new Seal(key), new Seal(key)];
    for (let id = 1; id <= 5; id++) {
      const content = new Uint8Array(id - 1).fill(id);
      expect([...receiver.open(id, sealed(sender, id, content))]).toEqual([...content]);
    }
  });

  test('any bit changed, in the id, the content or the seal, is noticed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat(), (content, at) => {
        const frame = sealed(new Seal(key), 9, content);
        const bit = at % (frame.length * 8 + 32);
        let id = 9;
        if (bit < frame.length * 8) frame[bit >> 3] = (frame[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        else id = (id ^ (1 << (bit - frame.length * 8))) >>> 0;
        expect(() => new Seal(key).open(id, frame)).toThrow('altered');
      }),
    );
  });

  test.each([
    ['repeated', [0, 0]],
    ['left out', [1]],
    ['sent in another order', [1, 0]],
  ])('a frame that is %s is noticed', (_, order) => {
    const sender = new Seal(key);
    const frames = [1, 2].map((id) => sealed(sender, id, Uint8Array.of(id)));
    const receiver = new Seal(key);
    expect(() => {
      for (const i of order) receiver.open(i + 1, frames[i] as Buffer);
    }).toThrow('altered');
  });

  test('a frame that is too short for a seal, or has one of another key, is refused', () => {
    for (let length = 0; length < sealBytes; length++) {
      expect(() => new Seal(key).open(1, new Uint8Array(length))).toThrow('altered');
    }
    const other = sealed(new Seal(new Uint8Array(32)), 1, Uint8Array.of(1));
    expect(() => new Seal(key).open(1, other)).toThrow('altered');
  });
});
