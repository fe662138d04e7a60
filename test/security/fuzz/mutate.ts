/**
 * Inputs that are nearly right: something from a corpus, changed a few times in the ways that parsers get wrong. The
 * same random numbers give the same input.
 */
import type { SeededRandom } from '@carillon/core/testing';

export interface MutatorOptions {
  readonly corpus: readonly Uint8Array[];
  /** Words of the format under test: keywords, delimiters, numbers at the edge. */
  readonly words?: readonly string[];
  readonly bytesMax?: number;
}

const edges = [0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x0d, 0x20, 0x22, 0x5c, 0x7b, 0x5b];
const edges32 = [0, 1, 0x7f, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff, 65_536];
/** One in so many inputs is left as it was: valid inputs must stay valid. */
const untouched = 12;
const repeatsMax = 400;

export class Mutator {
  private readonly corpus: readonly Buffer[];
  private readonly words: readonly Buffer[];
  private readonly bytesMax: number;

  constructor({ corpus, words = [], bytesMax = 4096 }: MutatorOptions) {
    this.corpus = corpus.map((bytes) => Buffer.from(bytes));
    this.words = (words.length === 0 ? ['\0'] : words).map((word) => Buffer.from(word));
    this.bytesMax = bytesMax;
  }

  make(random: SeededRandom): Uint8Array {
    let bytes = random.pick(this.corpus);
    if (random.between(1, untouched) === 1) return bytes;
    // Few changes more often than many: an input that is broken everywhere is refused at once.
    const changes = 1 + Math.floor(random.unit() * random.unit() * 6);
    for (let i = 0; i < changes; i++) bytes = this.changed(bytes, random);
    return bytes.length > this.bytesMax ? bytes.subarray(0, this.bytesMax) : bytes;
  }

  private changed(bytes: Buffer, random: SeededRandom): Buffer {
    const at = random.between(0, bytes.length);
    const to = Math.min(bytes.length, at + random.between(1, 16));
    switch (random.between(0, 9)) {
      case 0:
        return withByte(bytes, at, (byte) => byte ^ (1 << random.between(0, 7)));
      case 1:
        return withByte(bytes, at, () => random.pick(edges));
      case 2:
        return withByte(bytes, at, () => random.between(0, 255));
      case 3:
        return with32(bytes, at, random.pick(edges32));
      case 4:
        return Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]);
      case 5:
        return Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]);
      case 6:
        return bytes.subarray(0, at);
      case 7:
        return Buffer.concat([bytes.subarray(0, at), random.pick(this.words), bytes.subarray(at)]);
      case 8:
        return Buffer.concat([bytes.subarray(0, at), random.pick(this.words), bytes.subarray(to)]);
      default:
        return this.spliced(bytes, at, random);
    }
  }

  /** With a stretch of another one, or one of its own again and again. */
  private spliced(bytes: Buffer, at: number, random: SeededRandom): Buffer {
    if (random.chance(0.8)) {
      const other = random.pick(this.corpus);
      return Buffer.concat([
        bytes.subarray(0, at),
        other.subarray(random.between(0, other.length)),
      ]);
    }
    const stretch = bytes.subarray(at, at + random.between(1, 8));
    const times = random.between(1, repeatsMax);
    return Buffer.concat([
      bytes.subarray(0, at),
      ...Array.from({ length: times }, () => stretch),
      bytes.subarray(at),
    ]);
  }
}

function withByte(bytes: Buffer, at: number, change: (byte: number) => number): Buffer {
  const copy = Buffer.from(bytes);
  if (at < copy.length) copy[at] = change(copy[at] as number);
  return copy;
}

function with32(bytes: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(bytes);
  if (at + 4 <= copy.length) copy.writeUInt32LE(value, at);
  return copy;
}
