/**
 * Just enough of the protobuf wire format for etcd's messages: varints and length-delimited fields.
 * Writing appends to one growing buffer; reading walks the fields and hands each to a visitor, so that
 * unknown fields of newer servers are skipped.
 *
 * Whole numbers are JavaScript numbers up to 2⁵³ and `bigint` where 64 bits matter (lease ids).
 */

const utf8 = new TextEncoder();
const text = new TextDecoder();

export class ProtoWriter {
  private bytes = new Uint8Array(256);
  private length = 0;

  /** A varint field; 0 is the default of the format and is left out. */
  int(field: number, value: number): this {
    if (value === 0) return this;
    this.varint(field * 8);
    this.varint(value);
    return this;
  }

  bigint(field: number, value: bigint): this {
    if (value === 0n) return this;
    this.varint(field * 8);
    let rest = BigInt.asUintN(64, value);
    this.reserve(10);
    for (; rest > 0x7fn; rest >>= 7n) this.bytes[this.length++] = Number(rest & 0x7fn) | 0x80;
    this.bytes[this.length++] = Number(rest);
    return this;
  }

  bool(field: number, value: boolean): this {
    return this.int(field, value ? 1 : 0);
  }

  string(field: number, value: string): this {
    return value === '' ? this : this.raw(field, utf8.encode(value));
  }

  /** A field of raw bytes; also written when empty, because an empty message can mean something. */
  raw(field: number, value: Uint8Array): this {
    this.varint(field * 8 + 2);
    this.varint(value.length);
    this.reserve(value.length);
    this.bytes.set(value, this.length);
    this.length += value.length;
    return this;
  }

  /** A nested message. */
  message(field: number, build: (nested: ProtoWriter) => void): this {
    const nested = new ProtoWriter();
    build(nested);
    return this.raw(field, nested.finish());
  }

  finish(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  private varint(value: number): void {
    this.reserve(10);
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) {
      this.bytes[this.length++] = (rest % 128) | 0x80;
    }
    this.bytes[this.length++] = rest;
  }

  private reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + count));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
}

/** One field under the reader's cursor. Exactly one of its forms fits; the caller knows which. */
export class ProtoReader {
  private readonly bytes: Uint8Array;
  private at = 0;
  /** Where the present field's payload lies; for a varint, `low`/`high` hold its two halves. */
  private start = 0;
  private end = 0;
  private low = 0;
  private high = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Moves to the next field and returns its number; 0 at the end. */
  next(): number {
    if (this.at >= this.bytes.length) return 0;
    this.varint();
    const tag = this.low;
    const wireType = tag & 7;
    if (wireType === 0) this.varint();
    else if (wireType === 2) this.delimited();
    else if (wireType === 1) this.skip(8);
    else if (wireType === 5) this.skip(4);
    else
      throw new RangeError(`protobuf: wire type ${wireType} at byte ${this.at} is not readable.`);
    return tag >>> 3;
  }

  int(): number {
    return this.high * 2 ** 32 + this.low;
  }

  bigint(): bigint {
    return (BigInt(this.high) << 32n) | BigInt(this.low);
  }

  bool(): boolean {
    return this.low !== 0;
  }

  raw(): Uint8Array {
    return this.bytes.subarray(this.start, this.end);
  }

  string(): string {
    return text.decode(this.raw());
  }

  nested(): ProtoReader {
    return new ProtoReader(this.raw());
  }

  private delimited(): void {
    this.varint();
    this.start = this.at;
    this.skip(this.low);
    this.end = this.at;
  }

  private skip(count: number): void {
    this.at += count;
    if (this.at > this.bytes.length)
      throw new RangeError('protobuf: the message ends inside a field.');
  }

  private varint(): void {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new RangeError('protobuf: the message ends inside a number.');
      const part = byte & 0x7f;
      if (shift < 28) low += part * 2 ** shift;
      else if (shift === 28) {
        low += (part & 0x0f) * 2 ** 28;
        high = part >> 4;
      } else if (shift < 63) high += part * 2 ** (shift - 32);
      else high += (part & 1) * 2 ** 31;
      if (byte < 0x80) {
        this.low = low;
        this.high = high;
        return;
      }
    }
    throw new RangeError('protobuf: a number is longer than ten bytes.');
  }
}
