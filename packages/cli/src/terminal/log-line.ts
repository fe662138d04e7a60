/** Lines of a member's log, which are JSON, as people read them. */
import { inPlainWords } from './plain-words.ts';
import { oneLine } from './style.ts';

/** Fields that say nothing new to a reader. */
const dull = new Set(['level', 'time', 'msg', 'event', 'member', 'pid', 'hostname']);
/** By the numbers that the log writes. */
const levels: Readonly<Record<number, string>> = {
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
};

export interface LogLine {
  /** The time of day, to the millisecond; empty: the line is not of the log. */
  readonly time: string;
  readonly level: string;
  /** The sentence and its fields. */
  readonly text: string;
  /** The subject of a line that each member says for itself; null: the line is of one member alone. */
  readonly shared: string | null;
}

export function readLogLine(line: string): LogLine {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return { time: '', level: '', text: oneLine(line), shared: null };
  }
  const rest = Object.entries(fields)
    .filter(([name]) => !dull.has(name))
    .map(([name, value]) => `${name}=${said(value)}`);
  const { msg, time, level } = fields;
  return {
    time: typeof time === 'string' ? time.slice(11, 23) : '',
    level: levels[Number(level)] ?? '',
    text: oneLine([typeof msg === 'string' ? msg : '', ...rest].join('  ')),
    shared: sharedSubject(fields),
  };
}

/** A receiver fails for all members that call it. */
function sharedSubject({ event, namespace, receiver }: Readonly<Record<string, unknown>>) {
  return event === 'receiver-failing' ? `${event} ${String(namespace)} ${String(receiver)}` : null;
}

function said(value: unknown): string {
  return typeof value === 'string' ? inPlainWords(value) : JSON.stringify(value);
}
