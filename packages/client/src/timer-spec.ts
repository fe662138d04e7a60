/** A timer as a caller describes it, and the JSON body it becomes. */
import { missingDay, namesOf, parseDuration, refuseUnknown, shown } from '@carillon/core';
import { checkSchema, fitting, PayloadError, payloadText } from './payload/payload.ts';
import type { StandardSchema } from './payload/standard-schema.ts';

/** Milliseconds, or a text such as `'250ms'`, `'10s'`, `'1.5m'`, `'2h'`, `'1d'`. */
export type Duration = number | string;
/** A Date, milliseconds since 1970, or an RFC 3339 text. */
export type Instant = Date | number | string;

type None<Names extends string> = { readonly [Name in Names]?: undefined };

/** How long a recurring timer keeps popping: one of `for`, `until`, `count` and `forever`. */
export type Ending =
  /** So long from the set on. */
  | ({ readonly for: Duration; readonly forever?: false | undefined } & None<'until' | 'count'>)
  | ({ readonly until: Instant; readonly forever?: false | undefined } & None<'for' | 'count'>)
  /** How many pops. */
  | ({ readonly count: number; readonly forever?: false | undefined } & None<'for' | 'until'>)
  /** No end, on purpose. */
  | ({ readonly forever: true } & None<'for' | 'until' | 'count'>);

/** A timer that pops once has none of these. */
type Once = { readonly forever?: false | undefined } & None<'for' | 'until' | 'count' | 'timezone'>;

/** When to pop: one of `in`, `every`, `at` and `cron`. A recurring timer needs an ending. */
export type When =
  | ({ readonly in: Duration } & Once & None<'every' | 'at' | 'cron'>)
  | ({ readonly at: Instant } & Once & None<'in' | 'every' | 'cron'>)
  | ({ readonly every: Duration } & Ending & None<'in' | 'at' | 'cron' | 'timezone'>)
  | ({ readonly cron: string; readonly timezone?: string } & Ending & None<'in' | 'every' | 'at'>);

export interface RetrySpec {
  /** How long after its first attempt a failed pop is tried again. */
  readonly limit?: Duration;
  /** The longest wait before the first retry; doubles with each. */
  readonly base?: Duration;
  readonly maxWait?: Duration;
  readonly maxAttempts?: number;
}

interface OpaqueText {
  /** Returned to the receiver as the body, byte for byte. */
  readonly opaque?: string | undefined;
  readonly name?: undefined;
  readonly data?: undefined;
  readonly schema?: undefined;
}

interface NamedData<Data> {
  /** Which handler of the receiver the data is for. */
  readonly name: string;
  /** Comes back as JSON, `{"name": …, "data": …}`. */
  readonly data: Data;
  /** Of any library that knows Standard Schema. Data whose JSON does not fit is refused before anything is sent. */
  readonly schema?: StandardSchema<Data, unknown> | undefined;
  readonly opaque?: undefined;
}

export type TimerSpec<Data = unknown> = When &
  (OpaqueText | NamedData<Data>) & {
    /** Where the callback goes. */
    readonly uri: string;
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    /** Time limit of one attempt. */
    readonly timeout?: Duration;
    /** Callbacks to the same uri that are due together may come in one request; `receiver` takes it apart again. */
    readonly batch?: boolean;
    /** Default plain; cloudevents: with the headers of a CloudEvent in binary mode, beside the usual ones. */
    readonly form?: 'plain' | 'cloudevents';
    readonly retry?: RetrySpec;
    /** Told of each pop of this timer that becomes a dead letter. */
    readonly onFailure?: { readonly uri: string };
    readonly tags?: readonly string[];
    /** How many members hold the timer. */
    readonly factor?: number;
  };

/**
 * The body of a set or replace. Throws TypeError for a duration or instant that is none, for a name that no spec has,
 * and for members that do not go together: one of them would have no effect. The rest the cluster judges.
 */
export function bodyOf(spec: TimerSpec): Record<string, unknown> {
  checkNames(spec);
  const { uri, method, headers, timeout, batch, form, retry, onFailure, tags, factor } = spec;
  if (retry !== undefined) refuseUnknown(retry, 'timer', retryNames, 'retry.');
  if (onFailure !== undefined) refuseUnknown(onFailure, 'timer', ['uri'], 'onFailure.');
  const http = given({
    uri,
    opaque: opaqueOf(spec),
    method,
    headers,
    timeout: timeout === undefined ? undefined : seconds('timeout', timeout),
    batch,
    form,
  });
  return given({
    timing: timingOf(spec),
    callback: given({
      http,
      retry: retry === undefined ? undefined : retryOf(retry),
      'on-failure': onFailure,
    }),
    reliability: factor === undefined ? undefined : { 'replication-factor': factor },
    tags,
  });
}

/** The JSON of `bodyOf` for the usual spec, without an object; null: the spec has more than `in`, uri and opaque. */
export function usualText(spec: TimerSpec): string | null {
  for (const name in spec) if (!usualNames.has(name)) return null;
  const {
    in: wait,
    uri,
    opaque,
  } = (spec ?? {}) as {
    in?: unknown;
    uri?: unknown;
    opaque?: unknown;
  };
  if (typeof wait !== 'number' || typeof uri !== 'string') return null;
  if (opaque !== undefined && typeof opaque !== 'string') return null;
  const told = opaque === undefined ? '' : `,"opaque":${JSON.stringify(opaque)}`;
  const http = `{"uri":${JSON.stringify(uri)}${told}}`;
  return `{"timing":{"interval":${seconds('in', wait)}},"callback":{"http":${http}}}`;
}

const usualNames = new Set(['in', 'uri', 'opaque']);

/**
 * As `bodyOf`, with data checked by its schema. Throws PayloadError, or rejects with it, for data that does not fit.
 */
export function checkedBody(
  spec: TimerSpec,
): Record<string, unknown> | Promise<Record<string, unknown>> {
  const body = bodyOf(spec);
  if (spec.schema === undefined) return body;
  checkSchema(spec.schema);
  // Checked as the receiver will see it: a Date is a text there, and an undefined member is missing.
  const data: unknown = JSON.parse(JSON.stringify(spec.data));
  const fits = fitting(spec.schema, { name: spec.name, data });
  return fits instanceof Promise ? fits.then(() => body) : body;
}

function opaqueOf({ opaque, name, data, schema }: TimerSpec): string | undefined {
  if (name === undefined && data === undefined && schema === undefined) return opaque;
  if (opaque === undefined) return payloadText({ name: name ?? '', data });
  throw new PayloadError('A timer has opaque or data, not both.');
}

const retryNames = namesOf<RetrySpec>({ limit: 1, base: 1, maxWait: 1, maxAttempts: 1 });
const kinds = ['in', 'every', 'at', 'cron'] as const;
const endings = ['for', 'until', 'count', 'forever'] as const;
const payloadNames = ['opaque', 'name', 'data', 'schema'];
const httpNames = ['uri', 'method', 'headers', 'timeout', 'batch', 'form'];
const otherNames = ['retry', 'onFailure', 'tags', 'factor'];
const whenNames = [...kinds, 'timezone', ...endings];
const specNames = [...whenNames, ...payloadNames, ...httpNames, ...otherNames];

/** Throws TypeError unless these are members of a timer; one that is to be previewed may be whole. */
export function checkNames(spec: When): void {
  refuseUnknown(spec, 'timer', specNames);
}

/** `timing` of a body. Throws TypeError like `bodyOf`. */
export function timingOf(spec: When): Record<string, unknown> {
  const kind = kindOf(spec);
  if (kind === 'in') return { interval: seconds('in', spec.in as Duration) };
  if (kind === 'at') return { at: instantText('at', spec.at as Instant) };
  const ending = given({
    'repeat-for': spec.for === undefined ? undefined : seconds('for', spec.for),
    until: optionalInstant('until', spec.until),
    count: spec.count,
    forever: spec.forever,
  });
  if (kind === 'every') return { interval: seconds('every', spec.every as Duration), ...ending };
  return given({ cron: spec.cron, timezone: spec.timezone, ...ending });
}

/** Throws TypeError for members that do not go together: one of them would have no effect. */
function kindOf(spec: When): (typeof kinds)[number] {
  const [kind, second] = kinds.filter((name) => spec[name] !== undefined);
  if (kind === undefined) throw new TypeError('A timer needs one of in, every, at and cron.');
  if (second !== undefined) {
    throw new TypeError(
      `A timer has one of in, every, at and cron, and not both ${kind} and ${second}.`,
    );
  }
  const [ending, other] = endings.filter((name) => (spec[name] ?? false) !== false);
  const recurs = kind === 'every' || kind === 'cron';
  if (!recurs && ending !== undefined) {
    throw new TypeError(
      `A timer with ${kind} pops once and has no ${ending}; a timer with every or cron recurs.`,
    );
  }
  if (recurs && ending === undefined) {
    throw new TypeError(
      `A timer with ${kind} needs an ending: for, until, count or forever: true.`,
    );
  }
  if (other !== undefined) {
    throw new TypeError(`A timer has one ending, and not both ${ending} and ${other}.`);
  }
  if (spec.timezone !== undefined && kind !== 'cron') {
    throw new TypeError(`A timer with ${kind} has no timezone, which goes with cron alone.`);
  }
  return kind;
}

function retryOf(retry: RetrySpec): Record<string, unknown> {
  const optional = (name: string, value: Duration | undefined): number | undefined =>
    value === undefined ? undefined : seconds(`retry.${name}`, value);
  return given({
    limit: optional('limit', retry.limit),
    base: optional('base', retry.base),
    'max-wait': optional('maxWait', retry.maxWait),
    'max-attempts': retry.maxAttempts,
  });
}

/** Milliseconds of a duration. Throws TypeError, naming the field. */
export function durationMs(name: string, value: Duration): number {
  const ms = typeof value === 'string' ? parseDuration(value) : value;
  if (typeof ms === 'number' && Number.isFinite(ms) && ms >= 0) return ms;
  throw new TypeError(
    `${name} must be milliseconds or a duration such as '10s', not ${shown(value)}.`,
  );
}

function seconds(name: string, value: Duration): number {
  return Math.round(durationMs(name, value)) / 1000;
}

function instantText(name: string, value: Instant): string {
  const day = typeof value === 'string' ? missingDay(value) : null;
  if (day !== null) throw new TypeError(`${name} has the day ${day}, which does not exist.`);
  const isInstant = typeof value === 'string' || typeof value === 'number' || value instanceof Date;
  const date = new Date(isInstant ? value : Number.NaN);
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  throw new TypeError(
    `${name} must be a Date, milliseconds since 1970 or a text such as '2030-01-31T09:00:00Z', ` +
      `not ${shown(value)}.`,
  );
}

export function optionalInstant(name: string, value: Instant | undefined): string | undefined {
  return value === undefined ? undefined : instantText(name, value);
}

/** Without the members that are undefined. A loop: every set comes here four times. */
function given(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const name in members) if (members[name] !== undefined) result[name] = members[name];
  return result;
}
