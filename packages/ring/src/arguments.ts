/**
 * Refuses arguments that do not fit, in a sentence that shows the right form. An option that is misspelt or of another
 * type would count as absent: a wait without its limit, a member without its weight.
 */
import { nearestWord } from '@carillon/core';
import { RingUsageError } from './errors.ts';

/** Makes the error of the call that is checked. */
export type Refuse = new (says: string) => Error;

interface Check {
  /** The options, in words: `lock`. */
  readonly of: string;
  readonly known: readonly string[];
  readonly refuse: Refuse;
}

/** Throws unless the options are an object that has known names alone. */
export function checkNames(given: unknown, { of, known, refuse }: Check): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new refuse(
      `ring: the options of ${of} are ${shown(given)}; an object with ${known.join(', ')} is right.`,
    );
  }
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = nearestName(unknown, known);
  const right = near === null ? `the options are ${known.join(', ')}` : `did you mean "${near}"`;
  const end = near === null ? '.' : '?';
  throw new refuse(`ring: ${of} has no option "${unknown}"; ${right}${end}`);
}

interface Range {
  readonly min?: number;
  readonly max?: number;
  /** The right values, in words. */
  readonly right: string;
  readonly refuse: Refuse;
}

/** Throws unless the number of milliseconds is from `min` to `max`. */
export function checkMs(
  name: string,
  ms: unknown,
  { min = 0, max = Number.POSITIVE_INFINITY, right, refuse }: Range,
): void {
  if (typeof ms === 'number' && ms >= min && ms <= max) return;
  throw new refuse(`ring: ${name} is ${shown(ms)}; ${right} is right.`);
}

const keyLengthMax = 1024;

/** Throws unless the key can be a name in etcd. */
export function checkKey(key: unknown): void {
  const isText = typeof key === 'string';
  if (isText && key !== '' && key.length <= keyLengthMax && key.isWellFormed()) return;
  const given = isText && key.length > keyLengthMax ? `one of ${key.length}` : shown(key);
  throw new RingUsageError(
    `ring: a key is a text of 1 to ${keyLengthMax} characters, without lone surrogates, not ${given}.`,
  );
}

const lockNames = ['signal', 'timeoutMs', 'durable'];

/** The options of `lock` and `withLock`. */
export function checkLockOptions(options: {
  readonly signal?: unknown;
  readonly timeoutMs?: unknown;
  readonly durable?: unknown;
}): void {
  checkNames(options, { of: 'lock', known: lockNames, refuse: RingUsageError });
  const { signal, timeoutMs = 0, durable = false } = options;
  checkMs('timeoutMs', timeoutMs, { right: '0 or more, or Infinity,', refuse: RingUsageError });
  if (typeof durable !== 'boolean') {
    throw new RingUsageError(`ring: durable is ${shown(durable)}; true or false is right.`);
  }
  if (signal === undefined || isSignal(signal)) return;
  throw new RingUsageError(
    `ring: signal is ${shown(signal)}; an AbortSignal such as controller.signal is right.`,
  );
}

function isSignal(given: unknown): boolean {
  const { aborted, addEventListener } = (given ?? {}) as Partial<AbortSignal>;
  return typeof aborted === 'boolean' && typeof addEventListener === 'function';
}

const memberNames = ['weight', 'labels', 'onlyFor', 'waitMs'];

/** The options of `addMember`; its weight is checked with its record. */
export function checkMemberOptions(options: {
  readonly labels?: unknown;
  readonly waitMs?: unknown;
}): void {
  checkNames(options, { of: 'addMember', known: memberNames, refuse: RingUsageError });
  const { labels, waitMs = 0 } = options;
  checkMs('waitMs', waitMs, { right: '0 or more, or Infinity,', refuse: RingUsageError });
  checkLabels(labels);
}

/** Throws unless the labels are texts under names. */
export function checkLabels(labels: unknown): void {
  if (labels === undefined) return;
  const right = "texts under names such as { zone: 'a' } are right";
  if (typeof labels !== 'object' || labels === null || Array.isArray(labels)) {
    throw new RingUsageError(`ring: labels is ${shown(labels)}; ${right}.`);
  }
  for (const [name, value] of Object.entries(labels)) {
    if (typeof value === 'string') continue;
    throw new RingUsageError(`ring: the label "${name}" is ${shown(value)}; ${right}.`);
  }
}

/** Throws unless the event exists and the listener can be called. */
export function checkListener(name: unknown, listener: unknown, events: readonly string[]): void {
  if (!events.includes(name as string)) {
    throw new RingUsageError(
      `ring: there is no event ${shown(name)}; the events are ${events.join(', ')}.`,
    );
  }
  if (typeof listener === 'function') return;
  throw new RingUsageError(
    `ring: the listener of "${String(name)}" is ${shown(listener)}; a function is right.`,
  );
}

/** A value in a sentence. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** The name that was probably meant: the nearest one, or one that begins alike (`ttl` for `ttlMs`). */
export function nearestName(given: string, known: readonly string[]): string | null {
  const near = nearestWord(given, known, Math.max(1, Math.floor(given.length / 3)));
  return near ?? known.find((name) => given.length > 2 && name.startsWith(given)) ?? null;
}
