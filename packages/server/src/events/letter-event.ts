/** Events about one dead letter. Pure. */
import { type Definition, hex16, type TimerRecord } from '@carillon/core';
import { failureOf } from '../timer/attempt.ts';
import type { Event } from './event-timer.ts';

/** A longer opaque is left out of an event: the letter has it. */
const opaqueLengthMax = 64 * 1024;

export interface Letter {
  readonly record: TimerRecord;
  readonly definition: Definition;
  /** The letter's id as clients know it. */
  readonly id: string;
}

/** Tells the uri that the timer itself names of this one letter. */
export function onFailureEvent(letter: Letter): Event {
  const { record } = letter;
  const { versionMs, versionTie } = record;
  return {
    kind: 'dead-letter',
    namespace: record.namespace,
    subject: letter.definition.origin?.id ?? letter.id,
    data: { ...letterData(letter), opaque: opaqueOf(letter.definition) },
    detail: hex16(record.hi, record.lo),
    // A letter that was sent again and came back is another one.
    version: { versionMs, versionTie },
  };
}

/** Tells the namespace that letters of a receiver have come, once for a receiver, class of failure and period. */
export function letterCameEvent(letter: Letter, receiver: string, periodMs: number): Event {
  const { record } = letter;
  return {
    kind: 'dead-letter',
    namespace: record.namespace,
    subject: receiver,
    data: letterData(letter),
    detail: failureOf(record.outcome) ?? '',
    version: { versionMs: periodMs, versionTie: 0 },
  };
}

/** Tells the namespace that its retention dropped this one letter. */
export function letterDroppedEvent(letter: Letter): Event {
  const { record } = letter;
  const { versionMs, versionTie } = record;
  return {
    kind: 'letter-dropped',
    namespace: record.namespace,
    subject: letter.definition.origin?.id ?? letter.id,
    data: letterData(letter),
    detail: hex16(record.hi, record.lo),
    // A letter that was sent again and came back is another one.
    version: { versionMs, versionTie },
  };
}

function letterData({ record, definition, id }: Letter): Record<string, unknown> {
  const { origin, uri, tags } = definition;
  return {
    'dead-letter': id,
    timer: origin?.id ?? id,
    sequence: origin?.sequence ?? 1,
    due: instantOf(origin?.dueMs),
    'gave-up': instantOf(origin?.gaveUpMs),
    attempts: origin?.attempts ?? record.attempt,
    failure: failureOf(record.outcome),
    reason: origin?.reason ?? '',
    receiver: URL.parse(uri)?.origin ?? '',
    tags,
  };
}

function instantOf(wallMs: number | undefined): string | null {
  return wallMs === undefined ? null : new Date(wallMs).toISOString();
}

function opaqueOf({ opaque }: Definition): string | null {
  return opaque.length <= opaqueLengthMax ? opaque : null;
}
