/** Pops as callbacks carry them: one in a request, or several as lines of JSON. */

/** One pop, as the receiver sees it. */
export interface Pop {
  readonly id: string;
  /** 1 for the first pop after set or replace. */
  readonly sequence: number;
  /** 1 for the first try of this pop. */
  readonly attempt: number;
  /** Pops left out since the last one, because no member could make them in time. */
  readonly missed: number;
  readonly due: Date | null;
  /** The opaque text that the timer was set with. */
  readonly opaque: string;
  readonly headers: Headers;
}

/** Returning means handled. Throwing means not handled: the cluster tries again. */
export type PopHandler = (pop: Pop) => void | Promise<void>;

/**
 * The same for every attempt and every replica. `webhook-id` says it outright. Without one: the timer's number, its
 * version, and the sequence. A version that is not named is told by its due time; then a duplicate from another
 * member may pass, but no pop of a replaced timer is taken for one of the old.
 */
export function popKey({ id, sequence, due, headers }: Pop): string {
  const given = headers.get('webhook-id');
  if (given !== null) return given;
  const version = headers.get('x-timer-version') ?? due?.toISOString() ?? '';
  // As in `webhook-id`: a pop that came together with others may come again by itself.
  return `${id.slice(0, 16)}_${version.replace('.', '_')}_${sequence}`;
}

/** The pops of a callback, several in a batch; none: it is no callback. */
export function popsOf(headers: Headers, body: Uint8Array): Pop[] {
  if (headers.has('x-timer-count')) return batchedPops(headers, body);
  const pop = popOf(headers, body);
  return pop === null ? [] : [pop];
}

/** One broken line makes all of it nothing: it did not come from a member. */
function batchedPops(common: Headers, body: Uint8Array): Pop[] {
  try {
    const lines = new TextDecoder().decode(body).split('\n');
    return lines.filter((line) => line !== '').map((line) => batchedPop(JSON.parse(line), common));
  } catch {
    return [];
  }
}

interface BatchLine {
  readonly id: string;
  readonly sequence: number;
  readonly due: string;
  readonly version: string;
  readonly attempt: number;
  readonly missed?: number;
  readonly opaque: string;
}

/** As it would have come by itself. The signature was that of the batch, and is checked. */
function batchedPop(line: BatchLine, common: Headers): Pop {
  const headers = new Headers(common);
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-timer-count']) {
    headers.delete(name);
  }
  headers.set('x-timer-id', line.id);
  headers.set('x-sequence-number', String(line.sequence));
  headers.set('x-timer-due', line.due);
  headers.set('x-timer-version', line.version);
  headers.set('x-timer-attempt', String(line.attempt));
  headers.set('x-timer-missed', String(line.missed ?? 0));
  const pop = popOf(headers, new TextEncoder().encode(line.opaque));
  if (pop === null || typeof line.id !== 'string') throw new Error('A line names no timer.');
  return pop;
}

function popOf(headers: Headers, body: Uint8Array): Pop | null {
  const id = headers.get('x-timer-id');
  if (id === null) return null;
  const due = new Date(headers.get('x-timer-due') ?? '');
  return {
    id,
    sequence: wholeOf(headers, 'x-sequence-number', 1),
    attempt: wholeOf(headers, 'x-timer-attempt', 1),
    missed: wholeOf(headers, 'x-timer-missed', 0),
    due: Number.isNaN(due.getTime()) ? null : due,
    opaque: new TextDecoder().decode(body),
    headers,
  };
}

function wholeOf(headers: Headers, name: string, otherwise: number): number {
  const text = headers.get(name) ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : otherwise;
}
