/** The words of a member about itself, once a second to each of the others, and in answer to their hello. */
import type { ByteReader, ByteWriter } from '@carillon/core';
import type { DiskState, Figures } from '../../metrics/status.ts';
import type { Load } from '../../metrics/load.ts';

export interface Hello {
  readonly release: string;
  readonly protocolMin: number;
  readonly protocolMax: number;
  readonly viewId: string;
  /** Different after each start: a peer that restarted may have missed messages. */
  readonly boot: number;
  /** How far back it remembers. */
  readonly historyMs: number;
  /** It hands its records on and will be gone. */
  readonly leaving: boolean;
  /** Some of its records are on their way to other members. */
  readonly moving: boolean;
  /** Its disk has no room for records it does not hold yet. */
  readonly full: boolean;
  /** Whether damage was found on its disk, and whether it is mended. */
  readonly disk: DiskState;
  readonly wallMs: number;
  readonly timers: number;
  readonly primaries: number;
  /** null: it does not tell. */
  readonly load: Load | null;
  /** null before protocol 5. */
  readonly figures: Figures | null;
}

/** There are fewer results of callbacks. */
const answerCountMax = 64;
const leavingBit = 1;
const fullBit = 2;
/** Two bits; members of earlier releases send none of them and read neither. */
const diskStates = ['whole', 'mending', 'mended', 'lost'] as const satisfies readonly DiskState[];
const diskShift = 2;
/** Behind the state of the disk; earlier releases neither send nor read it. */
const movingBit = 16;

export function encodeHello(writer: ByteWriter, hello: Hello, version: number): void {
  writer.text(hello.release);
  writer.u8(hello.protocolMin);
  writer.u8(hello.protocolMax);
  writer.text(hello.viewId);
  writer.u32(hello.boot);
  writer.f64(hello.historyMs);
  writer.u8(encodeFlags(hello));
  writer.f64(hello.wallMs);
  writer.varint(hello.timers);
  writer.varint(hello.primaries);
  encodeLoad(writer, hello.load, version);
  if (version >= 5) encodeFigures(writer, hello.figures);
}

export function decodeHello(from: ByteReader, version: number): Hello {
  const release = from.text();
  const protocolMin = from.u8();
  const protocolMax = from.u8();
  const viewId = from.text();
  const boot = from.u32();
  const historyMs = from.f64();
  const flags = from.u8();
  // Each field by its name: an object spread between them takes longer than all other fields together.
  return {
    release,
    protocolMin,
    protocolMax,
    viewId,
    boot,
    historyMs,
    leaving: (flags & leavingBit) !== 0,
    moving: (flags & movingBit) !== 0,
    full: (flags & fullBit) !== 0,
    disk: diskStates[(flags >>> diskShift) & 3] ?? 'whole',
    wallMs: from.f64(),
    timers: from.varint(),
    primaries: from.varint(),
    load: decodeLoad(from, version),
    figures: version >= 5 ? decodeFigures(from) : null,
  };
}

function encodeFlags({ leaving, full, disk, moving }: Hello): number {
  const bits = (leaving ? leavingBit : 0) | (full ? fullBit : 0) | (moving ? movingBit : 0);
  return bits | (diskStates.indexOf(disk) << diskShift);
}

function encodeLoad(writer: ByteWriter, load: Load | null, version: number): void {
  writer.u8(load === null ? 0 : 1);
  if (load === null) return;
  writer.f64(load.popsPerSecond);
  encodeMeasured(writer, load.latenessP50Ms);
  encodeMeasured(writer, load.latenessP99Ms);
  encodeMeasured(writer, load.lagMs);
  if (version < 6) return;
  writer.f64(load.retriedPerSecond);
  writer.f64(load.givenUpPerSecond);
}

function decodeLoad(from: ByteReader, version: number): Load | null {
  if (from.u8() === 0) return null;
  return {
    popsPerSecond: from.f64(),
    latenessP50Ms: decodeMeasured(from),
    latenessP99Ms: decodeMeasured(from),
    lagMs: decodeMeasured(from),
    retriedPerSecond: version >= 6 ? from.f64() : 0,
    givenUpPerSecond: version >= 6 ? from.f64() : 0,
  };
}

/** A number that there may be none of. */
function encodeMeasured(writer: ByteWriter, value: number | null): void {
  writer.f64(value ?? Number.NaN);
}

function decodeMeasured(from: ByteReader): number | null {
  const value = from.f64();
  return Number.isNaN(value) ? null : value;
}

function encodeFigures(writer: ByteWriter, figures: Figures | null): void {
  writer.u8(figures === null ? 0 : 1);
  if (figures === null) return;
  writer.varint(figures.letters);
  writer.varint(figures.retrying);
  // Most results never occur: a hello without them is a third as long.
  let count = 0;
  for (const result in figures.answers) if ((figures.answers[result] ?? 0) > 0) count++;
  let left = Math.min(count, answerCountMax);
  writer.u8(left);
  for (const result in figures.answers) {
    const answered = figures.answers[result] ?? 0;
    if (answered === 0 || left === 0) continue;
    writer.text(result);
    writer.varint(answered);
    left--;
  }
}

function decodeFigures(from: ByteReader): Figures | null {
  if (from.u8() === 0) return null;
  const letters = from.varint();
  const retrying = from.varint();
  const answers: Record<string, number> = {};
  for (let left = from.u8(); left > 0; left--) answers[from.text()] = from.varint();
  return { letters, retrying, answers };
}
