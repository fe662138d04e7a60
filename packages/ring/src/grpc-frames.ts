/**
 * Messages from the bytes of a gRPC stream: five bytes of head (flag and length), then the message. Bytes are put
 * together once for each message, however many pieces it comes in.
 */

const headBytes = 5;
/** An answer longer than this is refused: 1024 slots and thousands of members fit many times. */
const messageBytesMax = 64 * 1024 * 1024;

export class GrpcFrames {
  private pieces: Uint8Array[] = [];
  private heldBytes = 0;
  /** Bytes that must be there before another look is worth it. */
  private neededBytes = headBytes;

  push(piece: Uint8Array): void {
    this.pieces.push(piece);
    this.heldBytes += piece.length;
  }

  /** Null: it is not all here yet. Unfit: compressed or too long; nothing can follow. */
  next(): Uint8Array | 'unfit' | null {
    if (this.heldBytes < this.neededBytes) return null;
    const held = this.joined();
    const length = new DataView(held.buffer, held.byteOffset).getUint32(1);
    if (held[0] !== 0 || length > messageBytesMax) return 'unfit';
    const end = headBytes + length;
    this.neededBytes = end;
    if (held.length < end) return null;
    this.neededBytes = headBytes;
    this.pieces = held.length === end ? [] : [held.subarray(end)];
    this.heldBytes = held.length - end;
    return held.subarray(headBytes, end);
  }

  private joined(): Uint8Array {
    const [first] = this.pieces;
    if (this.pieces.length === 1 && first !== undefined) return first;
    const whole = Buffer.concat(this.pieces, this.heldBytes);
    this.pieces = [whole];
    return whole;
  }
}
