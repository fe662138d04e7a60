/** Callbacks as the world saw them. A batch is taken apart: each of its lines is a callback, and all share one fate. */
import type { CallbackRequest, CallbackResult } from '@carillon/core';

/** One callback. */
export interface ReceivedCall {
  readonly by: string;
  readonly receiver: string;
  /** When the member made the request. */
  readonly startMs: number;
  /** Names the pop: number, version and sequence. */
  readonly popId: string;
  /** 16 hex digits. */
  readonly number: string;
  readonly sequence: number;
  readonly missed: number;
  readonly attempt: number;
  readonly body: string;
  /** The receiver took it and meant 2xx. */
  effectMs: number | null;
  /** The result as the member saw it. */
  result: CallbackResult | null;
  endMs: number | null;
}

/** A line of a batch. */
interface Line {
  readonly id: string;
  readonly sequence: number;
  readonly version: string;
  readonly attempt: number;
  readonly missed?: number;
  readonly opaque: string;
}

type Told = Pick<ReceivedCall, 'popId' | 'number' | 'sequence' | 'missed' | 'attempt' | 'body'>;

/** The callbacks in one request: one, or as many as the batch has lines. */
export function callsIn(request: CallbackRequest, by: string, startMs: number): ReceivedCall[] {
  const text = Buffer.from(request.body).toString();
  const count = request.headers['x-timer-count'];
  const told = count === undefined ? [single(request, text)] : lines(text, Number(count));
  const receiver = new URL(request.uri).hostname;
  return told.map((pop) => ({
    by,
    receiver,
    startMs,
    ...pop,
    effectMs: null,
    result: null,
    endMs: null,
  }));
}

function single({ headers }: CallbackRequest, body: string): Told {
  return {
    popId: headers['webhook-id'] ?? '',
    number: (headers['x-timer-id'] ?? '').slice(0, 16),
    sequence: Number(headers['x-sequence-number']),
    missed: Number(headers['x-timer-missed'] ?? 0),
    attempt: Number(headers['x-timer-attempt']),
    body,
  };
}

/** Throws when there are more or fewer than the request says: a receiver would refuse it. */
function lines(text: string, count: number): Told[] {
  const pops = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
  if (pops.length !== count) throw new Error(`A batch of ${count} has ${pops.length} lines.`);
  return pops.map(({ id, sequence, version, attempt, missed = 0, opaque }) => {
    const number = id.slice(0, 16);
    // The same name that a callback of this pop alone would carry.
    const popId = `${number}_${version.replace('.', '_')}_${sequence}`;
    return { popId, number, sequence, missed, attempt, body: opaque };
  });
}
