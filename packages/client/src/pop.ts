/** Pops as callbacks carry them: one in a request, or several as lines of JSON. */
import type { PlainCall } from './plain.ts';
import type { PopTraces } from './tracing.ts';

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

export interface KeyedPop {
  /**
   * The same for every attempt and every replica. `webhook-id` says it outright. Without one: the timer's number, its
   * version, and the sequence. A version that is not named is told by its due time; then a duplicate from another
   * member may pass, but no pop of a replaced timer is taken for one of the old.
   */
  readonly key: string;
  readonly pop: Pop;
  readonly traces: PopTraces;
}

/** The pops of a callback, several in a batch; none: it is no callback. */
export function popsOf(call: PlainCall): KeyedPop[] {
  if (call.header('x-timer-count') !== null) return batchedPops(call);
  const keyed = popOf(call, utf8.decode(call.body));
  return keyed === null ? [] : [keyed];
}

const utf8 = new TextDecoder();

type Headed = Pick<PlainCall, 'header' | 'headers'>;

/** Headers are made when they are asked for: few handlers do. */
function popOf({ header, headers }: Headed, opaque: string): KeyedPop | null {
  const id = header('x-timer-id');
  if (id === null) return null;
  const whole = (name: string, otherwise: number): number => {
    const text = header(name) ?? '';
    return /^\d{1,15}$/.test(text) ? Number(text) : otherwise;
  };
  const date = new Date(header('x-timer-due') ?? '');
  const due = Number.isNaN(date.getTime()) ? null : date;
  const sequence = whole('x-sequence-number', 1);
  let made: Headers | null = null;
  const pop: Pop = {
    id,
    sequence,
    attempt: whole('x-timer-attempt', 1),
    missed: whole('x-timer-missed', 0),
    due,
    opaque,
    get headers() {
      made ??= headers();
      return made;
    },
  };
  const version = header('x-timer-version') ?? due?.toISOString() ?? '';
  // As in `webhook-id`: a pop that came together with others may come again by itself.
  const key = header('webhook-id') ?? `${id.slice(0, 16)}_${version.replace('.', '_')}_${sequence}`;
  const traces = { own: header('traceparent'), set: header('x-timer-trace') };
  return { key, pop, traces };
}

/** One broken line makes all of it nothing: it did not come from a member. */
function batchedPops({ headers, body }: PlainCall): KeyedPop[] {
  try {
    const lines = utf8.decode(body).split('\n');
    return lines.filter((line) => line !== '').map((line) => batchedPop(JSON.parse(line), headers));
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
  readonly traceparent?: string;
  readonly trace?: string;
  readonly opaque: string;
}

/** As it would have come by itself. The signature was that of the batch, and is checked. */
function batchedPop(line: BatchLine, common: () => Headers): KeyedPop {
  const own: Readonly<Record<string, string | number>> = {
    'x-timer-id': line.id,
    'x-sequence-number': line.sequence,
    'x-timer-due': line.due,
    'x-timer-version': line.version,
    'x-timer-attempt': line.attempt,
    'x-timer-missed': line.missed ?? 0,
    ...(line.traceparent !== undefined && { traceparent: line.traceparent }),
    ...(line.trace !== undefined && { 'x-timer-trace': line.trace }),
  };
  const header = (name: string): string | null => {
    const value = own[name];
    return value === undefined ? null : String(value);
  };
  const headers = (): Headers => {
    const all = new Headers(common());
    for (const name of notOfALine) all.delete(name);
    for (const name in own) all.set(name, String(own[name]));
    return all;
  };
  const keyed = popOf({ header, headers }, line.opaque);
  if (keyed === null || typeof line.id !== 'string') throw new Error('A line names no timer.');
  return keyed;
}

const notOfALine = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-timer-count'];
