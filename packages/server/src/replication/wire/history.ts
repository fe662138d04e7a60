/** The question for entries of the history, and the answer, in their form on the wire. From protocol 4. */
import { type ByteReader, type ByteWriter, MalformedError } from '@carillon/core';
import { BlockWriter, readBlock } from '../../history/block.ts';
import { actions, type Entry } from '../../history/entry.ts';
import type { HistoryAsk, HistoryRead, Position } from '../../history/read.ts';
import { readMany } from './parts.ts';

/** In place of the code of an action: any. */
const anyAction = 255;

export function encodeHistoryAsk(writer: ByteWriter, ask: HistoryAsk): void {
  writer.text(ask.namespace ?? '');
  writer.u8(ask.number === null ? 0 : 1);
  writer.u32(ask.number?.hi ?? 0);
  writer.u32(ask.number?.lo ?? 0);
  writer.text(ask.actor ?? '');
  writer.u8(ask.action === null ? anyAction : actions.indexOf(ask.action));
  writer.u8(ask.changesOnly ? 1 : 0);
  writer.f64(ask.sinceMs);
  writer.f64(ask.untilMs);
  encodePosition(writer, ask.before);
  writer.varint(ask.limit);
}

export function decodeHistoryAsk(from: ByteReader): HistoryAsk {
  const namespace = from.text();
  const isOne = from.u8() === 1;
  const number = { hi: from.u32(), lo: from.u32() };
  const actor = from.text();
  return {
    namespace: namespace === '' ? null : namespace,
    number: isOne ? number : null,
    actor: actor === '' ? null : actor,
    action: actions[from.u8()] ?? null,
    changesOnly: from.u8() === 1,
    sinceMs: from.f64(),
    untilMs: from.f64(),
    before: decodePosition(from),
    limit: from.varint(),
  };
}

/** Whether releases before protocol 6 do not know the change. */
function isNewer(entry: Entry): boolean {
  return entry.kind === 'change' && (entry.action === 'drain' || entry.action === 'resync');
}

/** The entries go as a block, in which each text stands once. */
export function encodeHistoryRead(
  writer: ByteWriter,
  { entries: all, more }: HistoryRead,
  version: number,
): void {
  // An older member could not read the block with a change that it does not know.
  const entries = version >= 6 ? all : all.filter(({ entry }) => !isNewer(entry));
  const block = new BlockWriter();
  for (const { entry } of entries) block.add(entry);
  writer.blob(block.take().bytes);
  writer.varint(entries.length);
  for (const { position } of entries) encodePosition(writer, position);
  encodePosition(writer, more);
}

export function decodeHistoryRead(from: ByteReader): HistoryRead {
  const block = readBlock(from.blob(), 0);
  const positions = readMany(from, decodePosition);
  const entries = (block?.entries ?? []).flatMap((entry, i) => {
    const position = positions[i] ?? null;
    return position === null ? [] : [{ entry, position }];
  });
  if (block === null || entries.length !== positions.length) {
    throw new MalformedError('An answer about the history is no block of entries.');
  }
  return { entries, more: decodePosition(from) };
}

function encodePosition(writer: ByteWriter, position: Position | null): void {
  writer.u8(position === null ? 0 : 1);
  if (position === null) return;
  writer.varint(position.file);
  writer.varint(position.offset);
  writer.varint(position.index);
}

function decodePosition(from: ByteReader): Position | null {
  if (from.u8() === 0) return null;
  return { file: from.varint(), offset: from.varint(), index: from.varint() };
}
