/** Reads flags and operands of a command line; an argument that does not fit becomes one sentence (UsageError). */
import { parseArgs } from 'node:util';
import { missingDay, nearestWord, parseDuration, sentenceOf } from '@carillon/core';
import { UsageError } from './command.ts';

/** `flag`: on or off. `text`: takes a value, the last one counts. `list`: may be given many times. */
export type OptionKind = 'flag' | 'text' | 'list';
export type OptionKinds = Readonly<Record<string, OptionKind>>;

type Value<K extends OptionKind> = K extends 'flag'
  ? boolean
  : K extends 'list'
    ? readonly string[]
    : string | undefined;

export interface Parsed<T extends OptionKinds> {
  readonly flags: { readonly [N in keyof T]: Value<T[N]> };
  /** The arguments that are not flags, in order. */
  readonly operands: readonly string[];
}

/** Every command takes these. */
export const commonOptions = { json: 'flag' } as const satisfies OptionKinds;

export function parseOptions<const T extends OptionKinds>(
  args: readonly string[],
  kinds: T,
): Parsed<T> {
  const names = Object.keys(kinds);
  const { values, positionals } = readArgs(args, kinds);
  const flags: Record<string, unknown> = {};
  for (const name of names) {
    const value = values[name];
    if (kinds[name] === 'flag') flags[name] = value === true;
    else flags[name] = kinds[name] === 'list' ? (value ?? []) : value;
  }
  return { flags: flags as Parsed<T>['flags'], operands: positionals };
}

function readArgs(args: readonly string[], kinds: OptionKinds) {
  const options = Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [
      name,
      {
        type: kind === 'flag' ? ('boolean' as const) : ('string' as const),
        multiple: kind === 'list',
      },
    ]),
  );
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    const negative = args.find((arg) => /^-\.?\d/.test(arg));
    const says =
      negative === undefined
        ? sentence(error, Object.keys(kinds))
        : `"${negative}" is negative; durations and numbers are positive here, such as 10s.`;
    throw new UsageError(says, { cause: error });
  }
}

function sentence(error: unknown, names: readonly string[]): string {
  const code = (error as { code?: string }).code;
  const message = sentenceOf(error);
  const flag = /'(-[^'\s]*)/.exec(message)?.[1] ?? '';
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const near = meantFlag(flag.replace(/^-+/, ''), names);
    const hint = near === null ? '--help lists the flags.' : `Did you mean --${near}?`;
    return `There is no flag ${flag} here. ${hint}`;
  }
  if (message.includes('does not take an argument')) return `${flag} takes no value.`;
  return `${flag} needs a value, as in ${flag} VALUE or ${flag}=VALUE.`;
}

/** The nearest one, or else one that begins alike: `log` for `log-level`, `data-dir` for `data`. */
function meantFlag(given: string, names: readonly string[]): string | null {
  const near = nearestWord(given, names, Math.max(1, Math.floor(given.length / 3)));
  if (near !== null || given.length < 3) return near;
  const longer = names.find((name) => name.startsWith(given));
  return longer ?? names.find((name) => name.length >= 3 && given.startsWith(name)) ?? null;
}

/** The error about the first word behind a command; `right`: the words that it may be, with their operands. */
export function unknownAction(given: string | undefined, right: readonly string[]): UsageError {
  const names = right.map((form) => form.split(' ')[0] ?? '');
  const last = right.at(-1) ?? '';
  const forms = `${right.slice(0, -1).join(', ')} or ${last}`;
  if (given === undefined) return new UsageError(`Say what to do: ${forms}.`);
  const near = nearestWord(given, names, Math.max(1, Math.floor(given.length / 3)));
  const hint = near === null ? `Say what to do: ${forms}.` : `Did you mean "${near}"?`;
  return new UsageError(`There is no "${given}" here. ${hint}`);
}

/** A whole number from `min` to `max`, or a sentence. */
export function wholeNumber(
  flag: string,
  text: string,
  range: { readonly min: number; readonly max: number },
): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.min && value <= range.max) return value;
  throw new UsageError(
    `${flag} must be a whole number from ${range.min} to ${range.max}, not "${text}".`,
  );
}

/** Milliseconds, or a sentence with durations that fit, `such`. */
export function duration(what: string, text: string, such = '250ms, 10s, 1.5m or 2h'): number {
  const ms = parseDuration(text);
  if (ms !== null) return ms;
  throw new UsageError(`${what} must be a duration such as ${such}, not "${text}".`);
}

/** The moment that a text names; `form`: the right forms, in words. Throws UsageError, also for a day that is none. */
export function instant(flag: string, text: string, form: string): Date {
  const day = missingDay(text);
  if (day !== null) throw new UsageError(`${flag} has the day ${day}, which does not exist.`);
  const at = new Date(text);
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(at.getTime())) return at;
  throw new UsageError(`${flag} must be ${form}, not "${text}".`);
}
