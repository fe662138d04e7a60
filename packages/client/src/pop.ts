/** Pops as callbacks carry them: one in a request, or several as lines of JSON. */
import type { PlainCall } from './plain.ts';
import type { PopTraces } from './tracing.ts';

/** One pop, as the receiver sees it. */
export interface Pop {
  /** Of the timer. Its first 16 characters stay the same; the rest is another one when the timer has moved. */
  readonly id: string;
  /**
   * Names the pop: the same for every attempt and every replica, also after the timer has moved, and another one for
   * each pop and after each replace. `webhook-id` says it outright. Without one: the timer's number, its version, and
   * the sequence. A version that is not named is told by its due time; then a duplicate from another member may pass,
   * but no pop of a replaced timer is taken for one of the old.
   */
  readonly key: string;
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

export interface TracedPop {
  readonly pop: Pop;
  readonly traces: PopTraces;
}

/** The pops of a callback, several in a batch; none: it is no callback. */
export function popsOf(call: PlainCall): TracedPop[] {
  if (call.header('x-timer-count') !== null) return batchedPops(call);
  const keyed = popOf(call, utf8.decode(call.body));
  return keyed === null ? [] : [keyed];
}

const utf8 = new TextDecoder();

type Headed = Pick<PlainCall, 'header' | 'headers'>;

function popOf({ header, headers }: Headed, opaque: string): TracedPop | null {
  const id = header('x-timer-id');
  if (id === null) return null;
  const whole = (name: string, otherwise: number): number => {
    const text = header(name) ?? '';
    return /^\d{1,15}$/.test(text) ? Number(text) : otherwise;
  };
  return tracedPop({
    id,
    sequence: whole('x-sequence-number', 1),
    attempt: whole('x-timer-attempt', 1),
    missed: whole('x-timer-missed', 0),
    due: dueOf(header('x-timer-due') ?? ''),
    version: header('x-timer-version'),
    name: header('webhook-id'),
    traces: { own: header('traceparent'), set: header('x-timer-trace') },
    opaque,
    headers,
  });
}

interface ToldPop extends Pick<Pop, 'id' | 'sequence' | 'attempt' | 'missed' | 'due' | 'opaque'> {
  readonly version: string | null;
  /** `webhook-id`. */
  readonly name: string | null;
  readonly traces: PopTraces;
  readonly headers: () => Headers;
}

/** Headers are made when they are asked for: few handlers do. */
function tracedPop(told: ToldPop): TracedPop {
  const { id, sequence, attempt, missed, due, opaque, traces, headers } = told;
  const version = told.version ?? due?.toISOString() ?? '';
  let made: Headers | null = null;
  const pop: Pop = {
    id,
    // As in `webhook-id`: a pop that came together with others may come again by itself.
    key: told.name ?? `${id.slice(0, 16)}_${version.replace('.', '_')}_${sequence}`,
    sequence,
    attempt,
    missed,
    due,
    opaque,
    get headers() {
      made ??= headers();
      return made;
    },
  };
  return { pop, traces };
}

function dueOf(text: string): Date | null {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date;
}

/** One broken line makes all of it nothing: it did not come from a member. */
function batchedPops({ headers, body }: PlainCall): TracedPop[] {
  try {
    const lines = utf8
      .decode(body)
      .split('\n')
      .filter((line) => line !== '');
    const parsed = JSON.parse(`[${lines.join(',')}]`) as BatchLine[];
    return parsed.map((line) => batchedPop(line, headers));
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
function batchedPop(line: BatchLine, common: () => Headers): TracedPop {
  const { id, due, version, traceparent, trace, opaque } = line;
  if (typeof id !== 'string') throw new Error('A line names no timer.');
  return tracedPop({
    id,
    sequence: wholeOf(line.sequence, 1),
    attempt: wholeOf(line.attempt, 1),
    missed: wholeOf(line.missed, 0),
    due: dueOf(due),
    version: version ?? null,
    name: null,
    traces: { own: traceparent ?? null, set: trace ?? null },
    opaque,
    headers: () => headersOfLine(line, common()),
  });
}

function wholeOf(number: number | undefined, otherwise: number): number {
  return number !== undefined && Number.isSafeInteger(number) && number >= 0 ? number : otherwise;
}

function headersOfLine(line: BatchLine, common: Headers): Headers {
  const headers = new Headers(common);
  for (const name of notOfALine) headers.delete(name);
  headers.set('x-timer-id', line.id);
  headers.set('x-sequence-number', String(line.sequence));
  headers.set('x-timer-due', line.due);
  headers.set('x-timer-version', line.version);
  headers.set('x-timer-attempt', String(line.attempt));
  headers.set('x-timer-missed', String(line.missed ?? 0));
  if (line.traceparent !== undefined) headers.set('traceparent', line.traceparent);
  if (line.trace !== undefined) headers.set('x-timer-trace', line.trace);
  return headers;
}

const notOfALine = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-timer-count'];
