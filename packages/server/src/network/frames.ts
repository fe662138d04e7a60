/**
 * Frames on a byte stream: 4 bytes length, 4 bytes call id (both little-endian), then the content, with its seal if
 * there is one; the length counts both.
 *
 * Invariants: a frame longer than the limit is refused at its header, before any memory is taken for it; an
 * unfinished frame takes no more memory than the bytes that have arrived.
 */
import { type ByteWriter, MalformedError } from '@carillon/core';

const headerBytes = 8;

export function writeFrame(
  out: ByteWriter,
  id: number,
  content: Uint8Array,
  seal: Uint8Array | null = null,
): void {
  out.u32(content.length + (seal?.length ?? 0));
  out.u32(id);
  out.raw(content);
  if (seal !== null) out.raw(seal);
}

export class FrameReader {
  /** The longest content taken from here on. */
  contentBytesMax: number;
  private readonly kept: Uint8Array[] = [];
  private keptBytes = 0;
  /** Bytes that must be there before another look is worth it. */
  private neededBytes = headerBytes;

  constructor(contentBytesMax: number) {
    this.contentBytesMax = contentBytesMax;
  }

  /**
   * Takes the next bytes of the stream and hands every frame that is complete to `take`, in order, as views on the
   * bytes. `take` returns false to stop for good. Throws MalformedError for a frame that is too long.
   */
  push(chunk: Uint8Array, take: (id: number, content: Uint8Array) => boolean): void {
    this.kept.push(chunk);
    this.keptBytes += chunk.length;
    if (this.keptBytes < this.neededBytes) return;
    const bytes = this.kept.length === 1 ? chunk : join(this.kept, this.keptBytes);
    this.keep(bytes, this.framesOf(bytes, take));
  }

  /** Where the first unfinished frame starts. */
  private framesOf(bytes: Uint8Array, take: (id: number, content: Uint8Array) => boolean): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    for (;;) {
      if (bytes.length - at < headerBytes) {
        this.neededBytes = headerBytes;
        return at;
      }
      const length = view.getUint32(at, true);
      if (length > this.contentBytesMax) throw tooLong(length, this.contentBytesMax);
      const end = at + headerBytes + length;
      if (end > bytes.length) {
        this.neededBytes = headerBytes + length;
        return at;
      }
      if (!take(view.getUint32(at + 4, true), bytes.subarray(at + headerBytes, end))) {
        return bytes.length;
      }
      at = end;
    }
  }

  private keep(bytes: Uint8Array, from: number): void {
    this.kept.length = 0;
    this.keptBytes = bytes.length - from;
    if (this.keptBytes > 0) this.kept.push(bytes.subarray(from));
  }
}

function join(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function tooLong(length: number, max: number): MalformedError {
  return new MalformedError(`A frame announces ${length} bytes; ${max} are the most allowed here.`);
}
