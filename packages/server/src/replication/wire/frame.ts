/**
 * The messages between members. A frame carries many messages and is answered by one frame with an answer
 * to each, in the same order. Everything is idempotent: loss, repetition, delay and reordering are normal.
 *
 * A record travels with its age (see core's record.ts): it is written when the frame is, not when it was
 * queued. The frame tells what the clocks of its sender showed then, so that its reader can tell how long it was on its
 * way (`frame-delays.ts`).
 */
import { ByteReader, ByteWriter, MalformedError } from '@carillon/core';
import { type Answer, decodeAnswer, encodeAnswer } from './answer.ts';
import { decodeMessage, encodeMessage, type Message } from './message.ts';
import { type Moment, readMany, type ReadScope } from './parts.ts';

/**
 * Raised when a frame changes in a way that an older release cannot read. A frame is written in the highest protocol
 * that its reader is known to understand (`peers.ts`), and answered in the protocol it came in.
 * 3: an offer and a claim tell when the timer is due, a claim has a serial, and an answer that does not fit into the
 * frame with the others can be `later`. 4: an attempt has a detail, a list is asked for by receiver and failure, and
 * there are tallies and facts. 5: a list is asked for by the beginning of a tag, there is a search by due time, and a
 * hello tells of letters, retries and answers. 6: details of many timers are asked for at once, a hello tells of pops
 * that were retried and given up, and a timer has the trace that its set belongs to; frames of older protocols carry
 * timers without it. 7: a frame tells what the clocks of its sender showed.
 */
export const protocol = { min: 2, max: 7 } as const;
const stampedSince = 7;

/** How long a frame was on its way, as far as the clocks of its sender and of its reader tell. */
export type DelayOf = (from: string, written: Moment, read: Moment) => number;

export interface Frame<T> {
  readonly protocol: number;
  readonly from: string;
  readonly items: readonly T[];
}

const writer = new ByteWriter(64 * 1024);

export function encodeMessages(frame: Frame<Message>, at: Moment): Uint8Array {
  startFrame(frame, at);
  const scope = { nowMs: at.nowMs, version: frame.protocol };
  for (const message of frame.items) encodeMessage(writer, message, scope);
  return writer.copy();
}

export function encodeAnswers(frame: Frame<Answer>, at: Moment): Uint8Array {
  startFrame(frame, at);
  const scope = { nowMs: at.nowMs, version: frame.protocol };
  for (const answer of frame.items) encodeAnswer(writer, answer, scope);
  return writer.copy();
}

/** Throws MalformedError for anything but a whole frame. */
export function decodeMessages(
  bytes: Uint8Array,
  at: Moment,
  delayOf: DelayOf = none,
): Frame<Message> {
  return decodeFrame(bytes, { at, delayOf }, decodeMessage);
}

/** Throws MalformedError for anything but a whole frame. */
export function decodeAnswers(
  bytes: Uint8Array,
  at: Moment,
  delayOf: DelayOf = none,
): Frame<Answer> {
  return decodeFrame(bytes, { at, delayOf }, decodeAnswer);
}

function none(): number {
  return 0;
}

function startFrame(frame: Frame<unknown>, { nowMs, wallMs }: Moment): void {
  writer.reset();
  writer.u8(frame.protocol);
  writer.text(frame.from);
  if (frame.protocol >= stampedSince) {
    writer.f64(nowMs);
    writer.f64(wallMs);
  }
  writer.varint(frame.items.length);
}

function decodeFrame<T>(
  bytes: Uint8Array,
  { at, delayOf }: { readonly at: Moment; readonly delayOf: DelayOf },
  item: (from: ByteReader, scope: ReadScope) => T,
): Frame<T> {
  const reader = new ByteReader(bytes);
  const version = reader.u8();
  if (version < protocol.min || version > protocol.max) {
    throw new MalformedError(
      `A frame has protocol ${version}; this release knows up to ${protocol.max}.`,
    );
  }
  const from = reader.text();
  const delayMs =
    version < stampedSince ? 0 : delayOf(from, { nowMs: reader.f64(), wallMs: reader.f64() }, at);
  const scope = { nowMs: at.nowMs, sentMs: at.nowMs - delayMs, version };
  const items = readMany(reader, (one) => item(one, scope));
  if (reader.left > 0) throw new MalformedError(`A frame has ${reader.left} bytes too many.`);
  return { protocol: version, from, items };
}
