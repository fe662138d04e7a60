/**
 * A client's body → core Definition and factor. The shape comes from `schema/`; the rules between members and the
 * member's limits are here and in `parse-timing.ts`. Any fault becomes one CarillonError with a JSON pointer, and
 * nothing of the body gets any further. Members that are not in the schema have no effect, or are refused (`strict`).
 */
import { CarillonError, type Definition, type RetryPolicy } from '@carillon/core';
import type { Config } from '../config/config.ts';
import { refuseHeader, refuseMethod } from '../callback/callback-request.ts';
import { parseTiming, wholeMs } from './parse-timing.ts';
import { badRequest } from '../http/problem.ts';
import { type RetryBody, type TimerBody, timerBodyValidator } from './schema/timer.ts';
import { refuseUnknown, slipFor } from './unknown-members.ts';
import { refuseUri } from './uri.ts';

export interface ParsedTimer {
  readonly definition: Definition;
  /** null: the client named none. */
  readonly factor: number | null;
}

export interface ParseOptions {
  readonly wallMs: number;
  /** The factor of the id that is replaced; null for a new timer. */
  readonly factor: number | null;
  readonly idempotent: boolean;
  /** Whether members that the schema does not have are refused. */
  readonly strict: boolean;
  /** The trace that the request belongs to, as `traceparent`; null: none. */
  readonly trace: string | null;
}

export type ParseRules = Pick<Config, 'limits' | 'callbacks' | 'retry'>;

const otherMarks = /[^a-z0-9]/g;
const ownPrefixes = ['x-timer-', 'webhook-', 'ce-'];
const noHeaders: Readonly<Record<string, string>> = {};
const noTags: readonly string[] = [];
const noTagInfo: Definition['tagInfo'] = [];

export class TimerParser {
  private readonly rules: ParseRules;
  /** The uri that was checked last and found valid: most timers of a batch have the same one. */
  private goodUri: string | null = null;

  constructor(rules: ParseRules) {
    this.rules = rules;
  }

  /** Throws CarillonError. */
  parse(value: unknown, options: ParseOptions): ParsedTimer {
    checkCounts(value, this.rules.limits);
    if (!timerBodyValidator.Check(value)) throw shapeError(value);
    if (options.strict) refuseUnknown(value);
    const { http, retry, 'on-failure': onFailure } = value.callback;
    const { limits } = this.rules;
    this.checkUri(http.uri, '/callback/http/uri');
    if (onFailure !== undefined) this.checkUri(onFailure.uri, '/callback/on-failure/uri');
    const definition: Definition = {
      timing: parseTiming(value.timing, options.wallMs),
      uri: http.uri,
      opaque: http.opaque === undefined ? '' : this.opaque(http.opaque),
      method: http.method === undefined ? 'POST' : method(http.method),
      headers: http.headers === undefined ? noHeaders : this.headers(http.headers),
      timeoutMs: http.timeout === undefined ? null : this.timeoutMs(http.timeout),
      retry: retry === undefined ? null : this.retry(retry),
      tags: value.tags === undefined ? noTags : tags(value.tags, limits),
      tagInfo: value.statistics === undefined ? noTagInfo : tagInfo(value.statistics, limits),
      batch: batched(http),
      idempotent: options.idempotent,
      origin: null,
      onFailure: onFailure?.uri ?? null,
      event: null,
      form: http.form ?? 'plain',
      trace: options.trace,
    };
    return { definition, factor: factor(value, options.factor) };
  }

  private checkUri(uri: string, pointer: string): void {
    if (uri === this.goodUri) return;
    const why =
      uri.length > this.rules.limits.uriBytesMax
        ? `is longer than ${this.rules.limits.uriBytesMax} bytes`
        : refuseUri(uri);
    if (why !== null) throw badRequest(`The uri ${why}.`, pointer);
    this.goodUri = uri;
  }

  private opaque(text: string): string {
    const pointer = '/callback/http/opaque';
    checkText(text, { name: 'opaque', pointer, bytesMax: this.rules.limits.opaqueBytesMax });
    return text;
  }

  private headers(given: Readonly<Record<string, string>>): Record<string, string> {
    const { limits } = this.rules;
    const headers: Record<string, string> = {};
    let bytesLeft = limits.callbackHeaderBytesMax;
    for (const [spelling, value] of Object.entries(given)) {
      const name = spelling.toLowerCase();
      const pointer = `/callback/http/headers/${escapePointer(spelling)}`;
      const refusal = refuseHeader(name, value) ?? refuseTaken(name);
      if (refusal !== null) throw badRequest(refusal, pointer);
      if (Object.hasOwn(headers, name))
        throw badRequest(`The header "${name}" is there twice.`, pointer);
      bytesLeft -= name.length + value.length;
      if (bytesLeft < 0) throw tooMany(limits);
      // `__proto__` must end up as an ordinary header, not as the object's prototype.
      Object.defineProperty(headers, name, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return headers;
  }

  private timeoutMs(seconds: number): number {
    const { timeoutMsMax } = this.rules.callbacks;
    const ms = wholeMs(seconds);
    if (ms <= timeoutMsMax) return Math.max(1, ms);
    const most = `at most ${timeoutMsMax / 1000} seconds`;
    throw badRequest(`The timeout must be ${most}.`, '/callback/http/timeout');
  }

  private retry(body: RetryBody): RetryPolicy {
    const defaults = this.rules.retry;
    const pick = (seconds: number | undefined, fallbackMs: number) =>
      seconds === undefined ? fallbackMs : wholeMs(seconds);
    const baseMs = Math.max(1, pick(body.base, defaults.baseMs));
    const waitMsMax = pick(body['max-wait'], Math.max(defaults.waitMsMax, baseMs));
    if (waitMsMax < baseMs) {
      throw badRequest('The max-wait must not be below base.', '/callback/retry/max-wait');
    }
    return {
      limitMs: pick(body.limit, defaults.limitMs),
      baseMs,
      waitMsMax,
      attemptCountMax: body['max-attempts'] ?? defaults.attemptCountMax,
    };
  }
}

function factor(body: TimerBody, ofId: number | null): number | null {
  const asked = body.reliability?.['replication-factor'];
  if (asked === undefined) return null;
  if (ofId === null || ofId === asked) return asked;
  throw badRequest(
    `The replication-factor is ${asked}, but the timer's id says ${ofId}.`,
    '/reliability/replication-factor',
  );
}

/** A line of a batch has neither a method nor headers of its own. */
function batched(http: TimerBody['callback']['http']): boolean {
  const { batch = false, method: name, headers, form } = http;
  if (!batch) return false;
  if (form === 'cloudevents') {
    const why = 'A batched callback has no headers of its own, and so no form of CloudEvents.';
    throw badRequest(why, '/callback/http/form');
  }
  if (name !== undefined && name !== 'POST') {
    throw badRequest(
      'A batched callback is a POST; leave the method out.',
      '/callback/http/method',
    );
  }
  if (headers !== undefined && Object.keys(headers).length > 0) {
    const why = 'A batched callback has no headers of its own; leave them out.';
    throw badRequest(why, '/callback/http/headers');
  }
  return true;
}

function method(name: string): string {
  const refusal = refuseMethod(name);
  if (refusal !== null) throw badRequest(refusal, '/callback/http/method');
  return name;
}

/**
 * Refuses headers that the member itself puts on a callback, and headers of the connection: a receiver would take a
 * client's for them. Also with other marks instead of hyphens, because CGI, WSGI and their successors read all marks
 * alike.
 */
function refuseTaken(name: string): string | null {
  const read = name.replace(otherMarks, '-');
  const own = read === 'x-sequence-number' || ownPrefixes.some((prefix) => read.startsWith(prefix));
  if (own) return `The header "${name}" cannot be set: the member uses it.`;
  const reserved = refuseHeader(read, '') !== null;
  return reserved ? `The header "${name}" cannot be set: it belongs to the connection.` : null;
}

type TextLimits = ParseRules['limits'];

/** Counts the parts that there may be thousands of, before any code walks over them. Throws CarillonError. */
function checkCounts(value: unknown, limits: TextLimits): void {
  checkLength(memberOf(value, 'tags'), 'tags', '/tags', limits);
  const info = memberOf(memberOf(value, 'statistics'), 'tag-info');
  checkLength(info, 'entries of tag-info', '/statistics/tag-info', limits);
  const headers = memberOf(memberOf(memberOf(value, 'callback'), 'http'), 'headers');
  let left = limits.callbackHeaderCountMax;
  if (typeof headers === 'object') for (const _ in headers) if (--left < 0) throw tooMany(limits);
}

function checkLength(list: unknown, what: string, pointer: string, limits: TextLimits): void {
  if (!Array.isArray(list) || list.length <= limits.tagCountMax) return;
  throw badRequest(`A timer has at most ${limits.tagCountMax} ${what}.`, pointer);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function tooMany({ callbackHeaderCountMax, callbackHeaderBytesMax }: TextLimits): CarillonError {
  const most = `${callbackHeaderCountMax} headers and ${callbackHeaderBytesMax} bytes`;
  return badRequest(`A callback has at most ${most} of headers.`, '/callback/http/headers');
}

function tags(given: readonly string[], limits: TextLimits): readonly string[] {
  given.forEach((name, i) => checkTag(name, `/tags/${i}`, limits));
  return [...new Set(given)];
}

function tagInfo(
  statistics: NonNullable<TimerBody['statistics']>,
  limits: TextLimits,
): Definition['tagInfo'] {
  const given = statistics['tag-info'] ?? [];
  return given.flatMap((entry) => tagInfoEntry(entry, limits));
}

/** As in Chronos: without a count it counts once, and a malformed entry is skipped. */
function tagInfoEntry(entry: unknown, { tagBytesMax }: TextLimits): Definition['tagInfo'] {
  const { type, count = 1 } = (entry ?? {}) as { type?: unknown; count?: unknown };
  if (typeof type !== 'string' || type === '' || !type.isWellFormed()) return [];
  if (Buffer.byteLength(type) > tagBytesMax) return [];
  const counts = Number.isInteger(count) && (count as number) >= 0 && (count as number) < 2 ** 32;
  return counts ? [{ type, count: count as number }] : [];
}

function checkTag(name: string, pointer: string, limits: TextLimits): void {
  checkText(name, { name: 'tag', pointer, bytesMax: limits.tagBytesMax });
}

function checkText(
  text: string,
  { name, pointer, bytesMax }: { name: string; pointer: string; bytesMax: number },
): void {
  // No character takes more than three bytes per unit: short texts need no counting.
  if (text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax) {
    throw badRequest(`The ${name} is longer than ${bytesMax} bytes.`, pointer);
  }
  if (!text.isWellFormed()) {
    throw badRequest(
      `The ${name} has half of a surrogate pair, which no UTF-8 can carry.`,
      pointer,
    );
  }
}

const wording: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  number: 'a finite number',
  integer: 'a whole number',
  boolean: 'true or false',
};

/** The first thing wrong with the shape, in words. */
function shapeError(value: unknown): CarillonError {
  const [error] = timerBodyValidator.Errors(value);
  if (error === undefined) return badRequest('The body is not a timer.', '');
  const { instancePath, keyword, params, message } = error;
  if (keyword === 'required') {
    const missing = escapePointer(params.requiredProperties[0] as string);
    const pointer = `${instancePath}/${missing}`;
    return badRequest(`The member "${missing}" is missing.${slipFor(value, pointer)}`, pointer);
  }
  const name = instancePath === '' ? 'The body' : `The member at ${instancePath}`;
  if (keyword === 'type') {
    return badRequest(
      `${name} must be ${wording[String(params.type)] ?? String(params.type)}.`,
      instancePath,
    );
  }
  return badRequest(`${name} ${message}.`, instancePath);
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
