/**
 * An item of a batch → the change that it asks for. Short forms: the body of a timer, which sets a new one, or with
 * `id` beside it replaces that one; and `{ "cancel": ID }`. The long form names the change (`set`, `replace`, `cancel`)
 * and has the body in `timer`. An item of two forms is refused: which of them was meant cannot be told.
 */
import { CarillonError, parseTraceparent, shortKey } from '@carillon/core';
import { badRequest } from '../http/problem.ts';
import type { SetRequest } from '../request/service.ts';
import type { ParsedTimer, ParseOptions, TimerParser } from './parse-timer.ts';
import { hasFactor, type LooseId, looseIdOf } from './request-id.ts';
import { hasUnknown, type UnknownMember, unknownMembers } from './unknown-members.ts';

export type BatchChange = {
  /** Where the body of the timer lies in the item: the beginning of JSON pointers into the body. */
  readonly base: '' | '/timer';
} & (
  | { readonly kind: 'set'; readonly request: SetRequest }
  /** Changes of a timer whose factor is not known yet: the timer has to be found first. */
  | { readonly kind: 'replace'; readonly id: LooseId; readonly timer: ParsedTimer }
  | { readonly kind: 'cancel'; readonly id: LooseId }
);

export interface ItemRules {
  readonly parser: TimerParser;
  readonly namespace: string;
  /** The name of the caller's token; empty: there is none. */
  readonly actor: string;
  readonly wallMs: number;
  readonly strict: boolean;
  /** The trace of the whole request, for items that name none of their own; null: none. */
  readonly trace: string | null;
}

/** `derivedKey`: for a set that names no key of its own; null: none. Throws CarillonError. */
export function changeOf(json: unknown, derivedKey: string | null, rules: ItemRules): BatchChange {
  if (isChange(json)) return namedChange(json, derivedKey, rules);
  if (typeof json !== 'object' || json === null) return newTimer('', json, derivedKey, rules);
  const item = json as Named;
  const { change, cancel, id, 'idempotency-key': key } = item;
  if (change !== undefined) throw twoForms('change');
  if (cancel !== undefined) {
    if (isBody(item)) throw twoForms('cancel');
    return { kind: 'cancel', base: '', id: idOf(cancel, 'cancel') };
  }
  const ownKey = key === undefined ? derivedKey : keyOf(key, 'idempotency-key');
  if (id === undefined) return newTimer('', bodyOf(item), ownKey, rules);
  return replaced('', idOf(id, 'id'), bodyOf(item), rules);
}

/** Members of the timer that have no effect; `index`: of the item. */
export function unknownIn(
  json: unknown,
  change: BatchChange,
  index: number,
): readonly UnknownMember[] {
  if (change.kind === 'cancel') return noneUnknown;
  const body = change.base === '' ? bodyOf(json as Named) : (json as Named)['timer'];
  return hasUnknown(body) ? unknownMembers(body, `/${index}${change.base}`) : noneUnknown;
}

/** The timer that a change is about, as its short key; null: a new one. */
export function timerOf(change: BatchChange): number | null {
  const id = change.kind === 'set' ? change.request.id : change.id;
  return id === null ? null : shortKey(id);
}

/** The same error, found in the body of the timer, with a pointer into the item. */
export function inItem(base: string, error: CarillonError): CarillonError {
  if (error.pointer === null || base === '') return error;
  return new CarillonError(error.code, error.message, { pointer: base + error.pointer });
}

export function isIdempotencyKey(text: string): boolean {
  return /^[\x20-\x7e]{1,255}$/.test(text);
}

type Named = Readonly<Record<string, unknown>>;

const noneUnknown: readonly UnknownMember[] = [];

/** Whether an item names its change. */
export function isChange(json: unknown): json is Named {
  if (typeof json !== 'object' || json === null || !Object.hasOwn(json, 'change')) return false;
  return !isBody(json as Named);
}

function isBody(item: Named): boolean {
  return Object.hasOwn(item, 'timing') || Object.hasOwn(item, 'callback');
}

/** The timer of a short form, without the members that belong to the item. */
function bodyOf(item: Named): Named {
  if (item['id'] === undefined && item['idempotency-key'] === undefined) return item;
  const { id: _, 'idempotency-key': __, ...body } = item;
  return body;
}

function twoForms(name: 'change' | 'cancel'): CarillonError {
  return badRequest(
    `An item has either "${name}" or the members of a timer, not both; a body with "id" beside it replaces that timer.`,
    `/${name}`,
  );
}

function namedChange(json: Named, derivedKey: string | null, rules: ItemRules): BatchChange {
  const { change, key, id, timer, traceparent } = json;
  const own = traceparent === undefined ? rules : { ...rules, trace: traceOf(traceparent) };
  switch (change) {
    case 'set':
      return newTimer('/timer', timer, key === undefined ? derivedKey : keyOf(key, 'key'), own);
    case 'replace':
      return replaced('/timer', idOf(id, 'id'), timer, own);
    case 'cancel':
      return { kind: 'cancel', base: '', id: idOf(id, 'id') };
    default:
      throw badRequest('The change must be "set", "replace" or "cancel".', '/change');
  }
}

function newTimer(
  base: BatchChange['base'],
  json: unknown,
  idempotencyKey: string | null,
  { parser, namespace, actor, wallMs, strict, trace }: ItemRules,
): BatchChange {
  const asked = { wallMs, factor: null, idempotent: idempotencyKey !== null, strict, trace };
  const { definition, factor } = parsed(base, parser, json, asked);
  const request = { namespace, id: null, definition, factor, idempotencyKey, actor };
  return { kind: 'set', base, request };
}

function replaced(
  base: BatchChange['base'],
  id: LooseId,
  json: unknown,
  { parser, namespace, actor, wallMs, strict, trace }: ItemRules,
): BatchChange {
  const asked = { wallMs, factor: id.factor, idempotent: false, strict, trace };
  const timer = parsed(base, parser, json, asked);
  if (!hasFactor(id)) return { kind: 'replace', base, id, timer };
  const { definition, factor } = timer;
  const request = { namespace, id, definition, factor, idempotencyKey: null, actor };
  return { kind: 'set', base, request };
}

/** Throws CarillonError. */
function parsed(
  base: string,
  parser: TimerParser,
  json: unknown,
  asked: ParseOptions,
): ParsedTimer {
  try {
    return parser.parse(json, asked);
  } catch (error) {
    throw error instanceof CarillonError ? inItem(base, error) : error;
  }
}

function idOf(value: unknown, name: 'id' | 'cancel'): LooseId {
  if (typeof value === 'string') return looseIdOf(value);
  throw badRequest(`The member "${name}" must be the id of a timer.`, `/${name}`);
}

/** As for the header: a text that is no `traceparent` is the same as none. */
function traceOf(value: unknown): string | null {
  return typeof value === 'string' ? parseTraceparent(value) : null;
}

function keyOf(value: unknown, name: 'key' | 'idempotency-key'): string {
  if (typeof value === 'string' && isIdempotencyKey(value)) return value;
  throw badRequest(`The ${name} must be 1 to 255 printable ASCII characters.`, `/${name}`);
}
