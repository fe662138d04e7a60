import { ByteWriter, MalformedError } from '@carillon/core';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FrameReader, writeFrame } from './frames.ts';

type Frame = readonly [id: number, content: readonly number[]];

function stream(frames: readonly Frame[]): Uint8Array {
  const out = new ByteWriter();
  for (const [id, content] of frames) writeFrame(out, id, Uint8Array.from(content));
  return out.copy();
}

/** The stream in pieces, cut at the given places. */
function pieces(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length];
  at.sort((a, b) => a - b);
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
}

function read(reader: FrameReader, chunks: readonly Uint8Array[]): Frame[] {
  const frames: Frame[] = [];
  for (const chunk of chunks) {
    reader.push(chunk, (id, content) => frames.push([id, [...content]]) > 0);
  }
  return frames;
}

const frame = fc.tuple(
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 40 }),
);

test('however a stream is cut into pieces, the same frames come out', () => {
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 8 }),
      fc.array(fc.nat({ max: 500 }), { maxLength: 12 }),
      (frames, cuts) => {
        expect(read(new FrameReader(40), pieces(stream(frames), cuts))).toEqual(frames);
      },
    ),
  );
});

test('a frame at the limit passes, one byte more is refused at its header', () => {
  expect(read(new FrameReader(3), [stream([[1, [1, 2, 3]]])])).toHaveLength(1);
  const header = stream([[1, [1, 2, 3, 4]]]).subarray(0, 8);
  expect(() => read(new FrameReader(3), [header])).toThrow(MalformedError);
});

test('the limit may change between two frames', () => {
  const reader = new FrameReader(1);
  const frames: number[] = [];
  reader.push(
    stream([
      [1, [1]],
      [2, [1, 2, 3]],
    ]),
    (id) => {
      frames.push(id);
      reader.contentBytesMax = 3;
      return true;
    },
  );
  expect(frames).toEqual([1, 2]);
});

test('after a frame that ends the stream nothing more is handed out', () => {
  const ids: number[] = [];
  new FrameReader(9).push(
    stream([
      [1, []],
      [2, []],
    ]),
    (id) => {
      ids.push(id);
      return false;
    },
  );
  expect(ids).toEqual([1]);
});

test('random bytes give frames or MalformedError, nothing else', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 5 }), (chunks) => {
      try {
        read(new FrameReader(1000), chunks);
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedError);
      }
    }),
  );
});
