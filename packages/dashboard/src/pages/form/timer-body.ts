/**
 * Typed fields → the body of `POST` and `PUT /timers`, and back from a timer as it is read. An error says the right
 * form; the member checks the rest. A timer that goes through both unchanged keeps every member of its definition.
 */
import type { CallbackShape, RetryShape, TimerShape } from '../../parts/shapes.ts';
import { durationText, secondsOf } from './text.ts';
import { instantsOf, timingOf, typedTiming } from './timing.ts';
import { blank, type Kept, type TypedTimer } from './typed-timer.ts';

export type Typed = { readonly body: object } | { readonly wrong: string };

export function timerBody(typed: TypedTimer): Typed {
  const timing = timingOf(typed);
  if (typeof timing === 'string') return { wrong: timing };
  const callback = callbackOf(typed);
  if (typeof callback === 'string') return { wrong: callback };
  const tags = allTags(typed);
  const factor = Number(typed.factor);
  return {
    body: {
      ...typed.kept.body,
      timing,
      callback,
      ...(typed.factor !== '' && { reliability: { 'replication-factor': factor } }),
      ...(tags.length > 0 && { tags }),
    },
  };
}

/** Tags of the list, and the ones that are still being typed. */
export function allTags({ tags, tag }: Pick<TypedTimer, 'tags' | 'tag'>): readonly string[] {
  return [...new Set([...tags, ...tagsIn(tag)])];
}

/** Typed tags are separated by commas or blanks. */
function tagsIn(text: string): string[] {
  return text.split(/[,\s]/).filter((tag) => tag !== '');
}

function callbackOf(typed: TypedTimer): object | string {
  if (!/^https?:\/\/./.test(typed.uri.trim()))
    return 'The callback needs an http or https address, such as http://127.0.0.1:8080/done.';
  const headers = headersOf(typed);
  if (typeof headers === 'string') return headers;
  const timeout = optionalSeconds(typed.timeout);
  if (timeout === null) return 'Type the time limit of an attempt as 10s or 500ms, or nothing.';
  const retry = retryOf(typed);
  if (typeof retry === 'string') return retry;
  return {
    ...typed.kept.callback,
    http: {
      ...typed.kept.http,
      uri: typed.uri.trim(),
      opaque: typed.opaque,
      ...(typed.method !== 'POST' && { method: typed.method }),
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(timeout !== undefined && { timeout }),
      ...(typed.batch && { batch: true }),
    },
    ...(retry !== null && { retry }),
  };
}

function headersOf({ headers }: TypedTimer): Record<string, string> | string {
  const filled = headers.filter(({ name, value }) => name.trim() !== '' || value !== '');
  const nameless = filled.find(({ name }) => name.trim() === '');
  if (nameless !== undefined) return `The header with the value “${nameless.value}” needs a name.`;
  const names = filled.map(({ name }) => name.trim().toLowerCase());
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) return `The header “${twice}” is there twice.`;
  return Object.fromEntries(filled.map(({ name, value }) => [name.trim(), value]));
}

/** null: the member's own. */
function retryOf(typed: TypedTimer): RetryShape | string | null {
  const limit = optionalSeconds(typed.retryLimit);
  const base = optionalSeconds(typed.retryBase);
  const maxWait = optionalSeconds(typed.retryMaxWait);
  if (limit === null || base === null || maxWait === null)
    return 'Type the times of retries as 500ms, 10s or 2h, or nothing.';
  const text = typed.retryMaxAttempts.trim();
  const attempts = text === '' ? undefined : Number(text);
  if (attempts !== undefined && !(Number.isInteger(attempts) && attempts > 0))
    return 'Type how many attempts at most, 1 or more, or nothing.';
  const retry = {
    ...(limit !== undefined && { limit }),
    ...(base !== undefined && { base }),
    ...(maxWait !== undefined && { 'max-wait': maxWait }),
    ...(attempts !== undefined && { 'max-attempts': attempts }),
  };
  return Object.keys(retry).length === 0 ? null : retry;
}

/** undefined: nothing is typed. null: the text is no duration. */
function optionalSeconds(text: string): number | undefined | null {
  return text.trim() === '' ? undefined : secondsOf(text);
}

/** The fields of the form for a timer as the member gives it. */
export function typedTimer(timer: TimerShape): TypedTimer {
  const { callback, timing, statistics, tags = [] } = timer;
  return {
    ...blank,
    ...typedTiming(timing),
    ...typedCallback(callback),
    tags,
    factor: String(timer.reliability['replication-factor']),
    kept: {
      instants: instantsOf(timing),
      body: statistics === undefined ? {} : { statistics },
      ...keptOf(callback),
    },
  };
}

function typedCallback({ http, retry = {} }: CallbackShape): Partial<TypedTimer> {
  const duration = (seconds: number | undefined): string =>
    seconds === undefined ? '' : durationText(seconds);
  const attempts = retry['max-attempts'];
  return {
    uri: http.uri,
    opaque: http.opaque ?? '',
    method: http.method ?? 'POST',
    headers: Object.entries(http.headers ?? {}).map(([name, value]) => ({ name, value })),
    timeout: duration(http.timeout),
    batch: http.batch ?? false,
    retryLimit: duration(retry.limit),
    retryBase: duration(retry.base),
    retryMaxWait: duration(retry['max-wait']),
    retryMaxAttempts: attempts === undefined ? '' : String(attempts),
  };
}

const shownInCallback = ['http', 'retry'];
const shownInHttp = ['uri', 'opaque', 'method', 'headers', 'timeout', 'batch'];

/** The members of a callback that have no field. */
function keptOf(callback: CallbackShape): Pick<Kept, 'callback' | 'http'> {
  return {
    callback: without(callback, shownInCallback),
    http: without(callback.http, shownInHttp),
  };
}

function without(members: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}
