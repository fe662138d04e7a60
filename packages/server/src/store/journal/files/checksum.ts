/**
 * CRC-32 (the one of zip and Ethernet). Journal entries are short, and for short ones tables in JavaScript
 * beat the call into native code; long ones go there.
 */
import { crc32 } from 'node:zlib';

const nativeFromBytes = 512;

/** Sixteen tables of 256: the effect of one byte that many places before the end. */
const stepBytes = 16;
const tables = buildTables();

/** The checksum of bytes[from, to); `seed` makes checksums of different files incomparable. */
export function checksum(bytes: Uint8Array, from: number, to: number, seed: number): number {
  const { buffer, byteOffset, byteLength } = bytes;
  return checksumIn(new DataView(buffer, byteOffset, byteLength), from, to, seed);
}

/** The same through a view that is at hand already: making one costs as much as the checksum of a short entry. */
export function checksumIn(view: DataView, from: number, to: number, seed: number): number {
  if (to - from >= nativeFromBytes) {
    return crc32(new Uint8Array(view.buffer, view.byteOffset + from, to - from), seed);
  }
  let crc = ~seed;
  let at = from;
  for (; at + stepBytes <= to; at += stepBytes) {
    crc =
      four(12, crc ^ view.getInt32(at, true)) ^
      four(8, view.getInt32(at + 4, true)) ^
      four(4, view.getInt32(at + 8, true)) ^
      four(0, view.getInt32(at + 12, true));
  }
  for (; at < to; at++) crc = table(0, (crc ^ view.getUint8(at)) & 255) ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** The register of the checksum after one zero byte more. */
export function zeroByteStep(register: number): number {
  return table(0, register & 255) ^ (register >>> 8);
}

/** The effect of four bytes, the last of them so many places before the end. */
function four(places: number, word: number): number {
  return (
    table(places + 3, word & 255) ^
    table(places + 2, (word >>> 8) & 255) ^
    table(places + 1, (word >>> 16) & 255) ^
    table(places, word >>> 24)
  );
}

function table(places: number, byte: number): number {
  return tables[(places << 8) | byte] as number;
}

function buildTables(): Int32Array {
  const built = new Int32Array(stepBytes * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ 0xedb88320;
    built[byte] = crc;
  }
  for (let at = 256; at < built.length; at++) {
    const shorter = built[at - 256] as number;
    built[at] = (built[shorter & 255] as number) ^ (shorter >>> 8);
  }
  return built;
}
