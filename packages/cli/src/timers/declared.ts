/**
 * A file of declared timers → names, ids and bodies for `apply`. The id follows from set and name alone, so that
 * every `apply` from anywhere means the same timer. Pure; a fault becomes a sentence with the timer's name.
 */
import { createHash } from 'node:crypto';
import { bodyOf, type TimerSpec } from '@carillon/client';
import { factorMax, parseDuration } from '@carillon/core';
import { parseYamlText } from '../yaml-text.ts';
import { isJson, type Json } from './api-timer.ts';

export interface Declared {
  readonly name: string;
  readonly id: string;
  readonly body: Json;
  /** The instant of a single pop; null: it recurs. */
  readonly atMs: number | null;
}

export interface DeclaredSet {
  readonly set: string;
  /** Whether file or caller named the set. */
  readonly named: boolean;
  readonly timers: readonly Declared[];
}

const setDefault = 'default';
const factorDefault = 2;
const timersMax = 10_000;
const nameForm = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/;

/** Each member of a declared timer, and whether a value fits. */
const members: Readonly<
  Record<string, readonly [fits: (value: unknown) => boolean, what: string]>
> = {
  name: [isText, 'a text'],
  uri: [isText, 'a URL'],
  every: [isDuration, 'a duration such as 10s'],
  at: [isInstant, 'an instant such as 2030-01-31T09:00:00Z'],
  cron: [isText, 'a cron pattern'],
  timezone: [isText, 'a time zone such as Europe/Berlin'],
  for: [isDuration, 'a duration such as 10m'],
  until: [isInstant, 'an instant such as 2030-01-31T09:00:00Z'],
  count: [(value) => isWhole(value, 2 ** 32 - 1), 'a whole number from 1'],
  forever: [(value) => value === true, 'true'],
  opaque: [(value) => typeof value === 'string', 'a text'],
  method: [isText, 'a method such as POST'],
  headers: [(value) => isJson(value) && Object.values(value).every(isText), 'a map of texts'],
  timeout: [isDuration, 'a duration such as 5s'],
  batch: [(value) => typeof value === 'boolean', 'true or false'],
  retry: [isRetry, 'a map of limit, base, maxWait (durations) and maxAttempts'],
  tags: [(value) => Array.isArray(value) && value.every(isText), 'a list of texts'],
  factor: [(value) => isWhole(value, factorMax), `a whole number from 1 to ${factorMax}`],
};
const ways = ['every', 'at', 'cron'];
const endings = ['for', 'until', 'count', 'forever'];

/** The tag that all timers of a set have. */
export function setTag(set: string): string {
  return `applied:${set}`;
}

/** The tag that tells which of the set it is. */
export function nameTag(name: string): string {
  return `name:${name}`;
}

/** `text` is YAML or JSON: a list of timers, or a map of `set` and `timers`. Throws an Error that is a sentence. */
export function readDeclared(text: string, setAsked: string | undefined): DeclaredSet {
  const file = parseYamlText(text);
  const listed = isJson(file) ? file['timers'] : file;
  if (!Array.isArray(listed))
    throw new Error('There must be a list of timers, or a map with "timers".');
  if (listed.length > timersMax) throw new Error(`A set has at most ${timersMax} timers.`);
  const setInFile = isJson(file) ? file['set'] : undefined;
  const named = setAsked ?? setInFile;
  const set = named ?? setDefault;
  if (typeof set !== 'string' || !nameForm.test(set)) {
    throw new Error(
      'The name of a set has letters, digits, dots, dashes and slashes, 100 at most.',
    );
  }
  const timers = listed.map((item, i) => declared(set, item, i));
  const names = new Set<string>();
  for (const { name } of timers) {
    if (names.has(name)) throw new Error(`Two timers have the name "${name}".`);
    names.add(name);
  }
  return { set, named: named !== undefined, timers };
}

function declared(set: string, item: unknown, index: number): Declared {
  const name = isJson(item) ? item['name'] : undefined;
  if (!isJson(item) || typeof name !== 'string' || !nameForm.test(name)) {
    const what = 'letters, digits, dots, dashes and slashes, 100 at most';
    throw new Error(`Timer ${index + 1} needs a "name" of ${what}.`);
  }
  const why = refusal(item);
  if (why !== null) throw new Error(`The timer "${name}" ${why}.`);
  const { name: _, ...rest } = item;
  const spec = rest as unknown as TimerSpec;
  const factor = spec.factor ?? factorDefault;
  const tags = [setTag(set), nameTag(name), ...(spec.tags ?? [])];
  const at = item['at'];
  return {
    name,
    id: `${numberOf(set, name)}-${factor}`,
    body: bodyOf({ ...spec, factor, tags }),
    atMs: typeof at === 'string' ? Date.parse(at) : null,
  };
}

/** The fault of a declared timer, to follow its name; null: none. */
function refusal(item: Json): string | null {
  for (const [key, value] of Object.entries(item)) {
    const member = Object.hasOwn(members, key) ? members[key] : undefined;
    if (member === undefined) {
      return `has "${key}", which is none of ${Object.keys(members).join(', ')}`;
    }
    const [fits, what] = member;
    if (!fits(value)) return `needs ${what} as "${key}"`;
  }
  if (item['uri'] === undefined) return 'needs a "uri" to call';
  const when = ways.filter((way) => way in item);
  if (when.length === 0) return 'needs one of every, at and cron';
  if (when.length > 1) return tooMany(when, ways);
  const ends = endings.filter((ending) => ending in item);
  if ('at' in item) return ends.length === 0 ? null : `pops once and has no ${endings.join(', ')}`;
  if (ends.length > 1) return tooMany(ends, endings);
  return ends.length === 1 ? null : `recurs and needs one of ${endings.join(', ')}`;
}

function tooMany(given: readonly string[], some: readonly string[]): string {
  const last = some.at(-1) ?? '';
  return `has ${given.join(' and ')}; it may have one of ${some.slice(0, -1).join(', ')} and ${last}`;
}

/** The same in every namespace: each has numbers of its own. */
function numberOf(set: string, name: string): string {
  const text = JSON.stringify(['applied', 'default', set, name]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** With its unit: a bare number would be milliseconds to some and seconds to others. */
function isDuration(value: unknown): boolean {
  return typeof value === 'string' && parseDuration(value) !== null;
}

function isInstant(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

function isWhole(value: unknown, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max;
}

function isRetry(value: unknown): boolean {
  if (!isJson(value)) return false;
  return Object.entries(value).every(([key, part]) =>
    key === 'maxAttempts'
      ? isWhole(part, 1_000_000)
      : ['limit', 'base', 'maxWait'].includes(key) && isDuration(part),
  );
}
