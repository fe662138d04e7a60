/**
 * How much members send each other at once, in bytes. On a connection a frame stands behind everything that was sent
 * before it: it is small enough to be gone in a moment, and few are under way at a time. Long ones share a connection
 * of their own, and the other is left to claims, which others wait for, and to news of a few short records.
 */
import type { TimerRecord } from '@carillon/core';
import type { Answer } from './wire/answer.ts';
import type { Message } from './wire/message.ts';

/** A frame and its answer are closed when this much is in them. One record always fits, however long it is. */
export const frameBytesMax = 256 * 1024;

/** Records of at least so many bytes are sent apart from shorter ones, in frames of their own. */
export const largeBytesMin = 8 * 1024;

/** Frames of records up to this length share a connection with claims: one write for both. */
export const lightBytesMax = 32 * 1024;

/** One page of a list, over the whole cluster. */
export const pageBytesMax = 1024 * 1024;

/** Records that are on their way to one peer to repair or move them: the next are read when these have arrived. */
export const repairBytesMax = 2 * 1024 * 1024;

/** Records that are read in one turn, before others have theirs. */
export const turnBytesMax = 1024 * 1024;

const recordHeadBytes = 128;
const standingBytes = 40;
const numberBytes = 8;

/** About as many as the record has on the wire. */
export function recordBytes({ body }: Pick<TimerRecord, 'body'>): number {
  return recordHeadBytes + body.length;
}

/** About as many as the message has. */
export function messageBytes(message: Message): number {
  if (message.type === 'store') return recordBytes(message.record);
  if (message.type === 'range') return message.standings.length * standingBytes;
  if (message.type === 'details') return message.numbers.length * numberBytes;
  return message.type === 'digest' ? message.hashes.byteLength : standingBytes;
}

/** Of the records in an answer; 0 where there are none: such an answer is small. */
export function answerBytes(answer: Answer): number {
  if (answer.type === 'ahead') return recordBytes(answer.record);
  if (answer.type === 'record') return answer.record === null ? 0 : recordBytes(answer.record);
  if (answer.type === 'records') return sum(answer.records);
  if (answer.type === 'found') return sum(answer.entries.map(({ record }) => record));
  return answer.type === 'difference' ? sum(answer.newer) : 0;
}

function sum(records: readonly TimerRecord[]): number {
  return records.reduce((bytes, record) => bytes + recordBytes(record), 0);
}
