/**
 * CRC-32 (the one of zip and Ethernet). Journal entries are short, and for short ones tables in JavaScript
 * beat the call into native code; long ones go there.
 */
import { crc32 } from 'node:zlib';

const nativeFromBytes = 512;

/** Eight tables of 256: the effect of one byte that many places before the end. */
const tables = buildTables();

/** The checksum of bytes[from, to); `seed` makes checksums of different files incomparable. */
export function checksum(bytes: Uint8Array, from: number, to: number, seed: number): number {
  if (to - from >= nativeFromBytes) return crc32(bytes.subarray(from, to), seed);
  let crc = ~seed;
  let at = from;
  for (; at + 8 <= to; at += 8) crc = eight(bytes, at, crc);
  for (; at < to; at++) crc = table(0, (crc ^ (bytes[at] as number)) & 255) ^ (crc >>> 8);
  return ~crc >>> 0;
}

function eight(bytes: Uint8Array, at: number, crc: number): number {
  return (
    table(7, (crc ^ (bytes[at] as number)) & 255) ^
    table(6, ((crc >>> 8) ^ (bytes[at + 1] as number)) & 255) ^
    table(5, ((crc >>> 16) ^ (bytes[at + 2] as number)) & 255) ^
    table(4, (crc >>> 24) ^ (bytes[at + 3] as number)) ^
    table(3, bytes[at + 4] as number) ^
    table(2, bytes[at + 5] as number) ^
    table(1, bytes[at + 6] as number) ^
    table(0, bytes[at + 7] as number)
  );
}

function table(places: number, byte: number): number {
  return tables[(places << 8) | byte] as number;
}

function buildTables(): Int32Array {
  const built = new Int32Array(8 * 256);
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
