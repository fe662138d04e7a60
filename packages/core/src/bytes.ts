/** Reading and writing the binary forms: journal, peer messages and the store's arena share them. */

const encoder = new TextEncoder();
/** A byte order mark at the beginning is part of the text: a client gets its text back unchanged. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Copies up to this length are cut from a common piece of memory: one of its own costs ten times as much. */
const sharedBytesMax = 1024;
let shared = new Uint8Array(32 * 1024);
let sharedAt = 0;

/** A copy of source[from, to). Small ones share memory, so keep them for a short time or all together. */
export function copyOf(source: Uint8Array, from: number, to: number): Uint8Array {
  const length = to - from;
  if (length > sharedBytesMax) return source.slice(from, to);
  if (sharedAt + length > shared.length) {
    shared = new Uint8Array(shared.length);
    sharedAt = 0;
  }
  const at = sharedAt;
  sharedAt += length;
  shared.set(source.subarray(from, to), at);
  return shared.subarray(at, sharedAt);
}

/** Thrown when bytes cannot be decoded; every reader of bytes from outside catches it. */
export class MalformedError extends Error {
  override readonly name = 'MalformedError';
}

/** Appends values to a buffer that grows. Reused between messages: `reset`, write, `bytes`. */
export class ByteWriter {
  private buffer: Uint8Array<ArrayBuffer>;
  private view: DataView;
  private at = 0;

  constructor(capacity = 1024) {
    this.buffer = new Uint8Array(capacity);
    this.view = new DataView(this.buffer.buffer);
  }

  get length(): number {
    return this.at;
  }

  reset(): void {
    this.at = 0;
  }

  /** All written bytes, as a view that the next write may change. */
  written(): Uint8Array {
    return this.buffer.subarray(0, this.at);
  }

  /** All written bytes, as a copy to keep. */
  copy(): Uint8Array {
    return copyOf(this.buffer, 0, this.at);
  }

  u8(value: number): void {
    this.room(1);
    this.buffer[this.at++] = value;
  }

  u16(value: number): void {
    this.room(2);
    this.view.setUint16(this.at, value, true);
    this.at += 2;
  }

  u32(value: number): void {
    this.room(4);
    this.view.setUint32(this.at, value, true);
    this.at += 4;
  }

  f64(value: number): void {
    this.room(8);
    this.view.setFloat64(this.at, value, true);
    this.at += 8;
  }

  /** A whole number from 0 to 2⁵³ − 1 in 1 to 8 bytes, seven bits a byte. */
  varint(value: number): void {
    this.room(8);
    let left = value;
    while (left > 127) {
      this.buffer[this.at++] = (left % 128) | 128;
      left = Math.floor(left / 128);
    }
    this.buffer[this.at++] = left;
  }

  raw(bytes: Uint8Array): void {
    this.room(bytes.length);
    this.buffer.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** Length, then the bytes. */
  blob(bytes: Uint8Array): void {
    this.varint(bytes.length);
    this.raw(bytes);
  }

  /** Length, then UTF-8. */
  text(value: string): void {
    // Short ASCII is the common case and needs no encoder.
    if (value.length < 128 && this.shortAscii(value)) return;
    this.blob(encoder.encode(value));
  }

  /** Overwrites four bytes written earlier. */
  patchU32(at: number, value: number): void {
    this.view.setUint32(at, value, true);
  }

  private shortAscii(value: string): boolean {
    this.room(value.length + 1);
    const { buffer } = this;
    const from = this.at + 1;
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i);
      if (code > 127) return false;
      buffer[from + i] = code;
    }
    buffer[this.at] = value.length;
    this.at = from + value.length;
    return true;
  }

  private room(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return;
    const grown = new Uint8Array(Math.max(this.buffer.length * 2, this.at + bytes));
    grown.set(this.buffer.subarray(0, this.at));
    this.buffer = grown;
    this.view = new DataView(grown.buffer);
  }
}

/** Eight bytes on their way to a number. All readers share the view: making one costs more than reading a hello. */
const doubleBytes = new Uint8Array(8);
const doubleView = new DataView(doubleBytes.buffer);

/** Reads the bytes of a ByteWriter. Every read past the end throws MalformedError. */
export class ByteReader {
  private readonly bytes: Uint8Array;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  u8(): number {
    this.need(1);
    return this.bytes[this.at++] as number;
  }

  u16(): number {
    this.need(2);
    const { bytes, at } = this;
    this.at = at + 2;
    return (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
  }

  u32(): number {
    this.need(4);
    const low = this.u16();
    return (low | (this.u16() << 16)) >>> 0;
  }

  f64(): number {
    this.need(8);
    const { bytes, at } = this;
    for (let i = 0; i < 8; i++) doubleBytes[i] = bytes[at + i] as number;
    this.at = at + 8;
    return doubleView.getFloat64(0, true);
  }

  varint(): number {
    let value = 0;
    let unit = 1;
    for (let i = 0; i < 8; i++) {
      const byte = this.u8();
      value += (byte & 127) * unit;
      if (byte < 128) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
      unit *= 128;
    }
    throw new MalformedError('A number is longer than 53 bits.');
  }

  /** The next `length` bytes, as a view on the source. */
  raw(length: number): Uint8Array {
    this.need(length);
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  blob(): Uint8Array {
    return this.raw(this.varint());
  }

  /** As `blob`, in memory that the next call overwrites. A short one is copied, because a view costs more. */
  lentBlob(): Uint8Array {
    const length = this.varint();
    if (length > lentBytesMax) return this.raw(length);
    this.need(length);
    const lent = (lentBlobs[length] ??= new Uint8Array(length));
    const { bytes, at } = this;
    for (let i = 0; i < length; i++) lent[i] = bytes[at + i] as number;
    this.at = at + length;
    return lent;
  }

  text(): string {
    const length = this.varint();
    this.need(length);
    const from = this.at;
    this.at += length;
    return length > shortBytesMax
      ? decode(this.bytes.subarray(from, this.at))
      : shortText(this.bytes, from, length);
  }

  /** A text that hardly ever comes again: not remembered. */
  uniqueText(): string {
    return decode(this.blob());
  }

  private need(bytes: number): void {
    if (this.at + bytes > this.bytes.length) {
      throw new MalformedError(
        `The message ends ${this.at + bytes - this.bytes.length} bytes early.`,
      );
    }
  }
}

/** Memory of `lentBlob`: one array for each length up to this. */
const lentBytesMax = 256;
const lentBlobs: (Uint8Array | undefined)[] = Array.from({ length: lentBytesMax + 1 });

/** Texts up to this length are remembered: namespaces, member names and addresses come again and again. */
const shortBytesMax = 64;
const shortCount = 1024;
const shortTexts: ({ readonly bytes: Uint8Array; readonly text: string } | undefined)[] =
  Array.from({
    length: shortCount,
  });

/** Decodes a short text; a text that was read lately comes from a cache. */
function shortText(bytes: Uint8Array, from: number, length: number): string {
  let hash = length;
  for (let i = 0; i < length; i++) hash = (Math.imul(hash, 31) + (bytes[from + i] as number)) | 0;
  const slot = (hash ^ (hash >>> 15)) & (shortCount - 1);
  const known = shortTexts[slot];
  if (known !== undefined && isSame(known.bytes, bytes, from, length)) return known.text;
  // Not `slice`: of a Buffer that is a view, which would hold on to all of a frame and change with it.
  const own = new Uint8Array(bytes.subarray(from, from + length));
  const text = decode(own);
  shortTexts[slot] = { bytes: own, text };
  return text;
}

function isSame(known: Uint8Array, bytes: Uint8Array, from: number, length: number): boolean {
  if (known.length !== length) return false;
  for (let i = 0; i < length; i++) if (known[i] !== bytes[from + i]) return false;
  return true;
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new MalformedError('A text is not valid UTF-8.', { cause });
  }
}
