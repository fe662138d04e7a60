/** Query parameters. Unknown and repeated ones are refused: without them the request would mean something else. */
import { type CarillonError, nearestWord } from '@carillon/core';
import type { Limits } from '../config/config.ts';
import { badRequest } from '../http/problem.ts';
import { failureWords } from '../timer/attempt.ts';
import { instantFault, parseInstant } from './instant.ts';
import { listedStates } from './schema/timer.ts';
import { refuseUri } from './uri.ts';
import type { LetterFilter, ListQuery } from '../request/service.ts';

const pageItemCountDefault = 100;
const slipsMax = 4;
const toldLengthMax = 64;

export const pageNames = ['limit', 'cursor'];
export const letterNames = ['tag', 'receiver', 'failure'];
const listNames = [
  ...letterNames,
  'tag-prefix',
  'state',
  'order',
  'from',
  'to',
  'total',
  'member',
  'role',
  ...pageNames,
];

/** `known`: the names that the route has. Throws CarillonError. */
export function parametersOf(query: string, known: readonly string[]): URLSearchParams {
  const parameters = new URLSearchParams(query);
  const seen = new Set<string>();
  for (const name of parameters.keys()) {
    if (!known.includes(name)) throw unknownParameter(name, known);
    if (seen.has(name)) throw badRequest(`The parameter ${name} is there twice.`);
    seen.add(name);
  }
  refuseBadText(query, parameters);
  return parameters;
}

/** Bytes that are not UTF-8 became this character. */
const replacement = '\u{fffd}';

/** Throws CarillonError: no text that members keep has such bytes. */
function refuseBadText(query: string, parameters: URLSearchParams): void {
  for (const [name, value] of parameters) {
    if (!value.includes(replacement)) continue;
    const meant = new URLSearchParams(query.replaceAll(/%ef%bf%bd/gi, '-'));
    if (!(meant.get(name) ?? '').includes(replacement)) continue;
    throw badRequest(`The parameter ${name} must be UTF-8, percent-encoded.`);
  }
}

function unknownParameter(name: string, known: readonly string[]): CarillonError {
  const told = name.slice(0, toldLengthMax);
  if (known.length === 0) return badRequest(`There is no parameter ${told} here: there are none.`);
  const slips = Math.min(slipsMax, Math.max(1, Math.floor(name.length / 3)));
  const near = nearestWord(name, known, slips);
  const hint = near === null ? `The known ones are ${known.join(', ')}.` : `Did you mean ${near}?`;
  return badRequest(`There is no parameter ${told} here. ${hint}`);
}

/** Throws CarillonError. */
export function parseListQuery(query: string, limits: Limits): Omit<ListQuery, 'namespace'> {
  const parameters = parametersOf(query, listNames);
  const state = parameters.get('state');
  const known = listedStates.find((name) => name === state) ?? null;
  if (state !== null && known === null) {
    throw badRequest(`The parameter state must be one of ${listedStates.join(', ')}.`);
  }
  return {
    ...letterFilterOf(parameters, limits),
    tagPrefix: tagOf(parameters, limits, 'tag-prefix'),
    state: known,
    ...orderOf(parameters, known),
    wantTotal: totalOf(parameters),
    ...holderOf(parameters),
    ...pageOf(parameters, limits),
  };
}

/** Throws CarillonError. */
function orderOf(
  parameters: URLSearchParams,
  state: string | null,
): Pick<ListQuery, 'order' | 'fromMs' | 'toMs'> {
  const order = parameters.get('order');
  if (order !== null && order !== 'due') throw badRequest('The parameter order must be due.');
  const fromMs = instantOf(parameters, 'from');
  const toMs = instantOf(parameters, 'to');
  if (state === 'dead' && (order !== null || fromMs !== null || toMs !== null)) {
    throw badRequest(
      'Dead letters are not due: leave order, from and to out, or ask for another state.',
    );
  }
  return { order, fromMs, toMs };
}

/** Throws CarillonError. */
function instantOf(parameters: URLSearchParams, name: 'from' | 'to'): number | null {
  const text = parameters.get(name);
  const ms = text === null ? null : parseInstant(text);
  if (text !== null && ms === null) {
    throw badRequest(instantFault(`The parameter ${name}`, text));
  }
  return ms;
}

/** Throws CarillonError. */
function totalOf(parameters: URLSearchParams): boolean {
  const total = parameters.get('total');
  if (total === null || total === 'true' || total === 'false') return total === 'true';
  throw badRequest('The parameter total must be true or false.');
}

const roles = ['primary', 'backup'] as const;
const memberNameLengthMax = 256;

/** Throws CarillonError. */
function holderOf(parameters: URLSearchParams): Pick<ListQuery, 'member' | 'role'> {
  const member = parameters.get('member');
  if (member !== null && (member === '' || member.length > memberNameLengthMax)) {
    throw badRequest('The parameter member must be the name of a member.');
  }
  const given = parameters.get('role');
  const role = roles.find((name) => name === given) ?? null;
  if (given !== null && (role === null || member === null)) {
    throw badRequest(
      `The parameter role must be one of ${roles.join(', ')}, beside the parameter member.`,
    );
  }
  return { member, role };
}

/** Throws CarillonError. */
export function pageOf(
  parameters: URLSearchParams,
  limits: Limits,
  cursorLengthMax = 512,
): Pick<ListQuery, 'limit' | 'cursor'> {
  const { pageItemCountMax } = limits;
  const limitText = parameters.get('limit');
  const limit =
    limitText === null ? Math.min(pageItemCountDefault, pageItemCountMax) : Number(limitText);
  if (
    (limitText !== null && !/^\d{1,9}$/.test(limitText)) ||
    limit < 1 ||
    limit > pageItemCountMax
  ) {
    throw badRequest(`The parameter limit must be a whole number from 1 to ${pageItemCountMax}.`);
  }
  const cursor = parameters.get('cursor');
  if (cursor !== null && (cursor.length > cursorLengthMax || !/^[\x21-\x7e]+$/.test(cursor))) {
    throw badRequest('The parameter cursor must be one that an earlier page gave out.');
  }
  return { limit, cursor };
}

/** Throws CarillonError. */
export function tagOf(
  parameters: URLSearchParams,
  limits: Limits,
  name: 'tag' | 'tag-prefix' = 'tag',
): string | null {
  const tag = parameters.get(name);
  if (tag === null) return null;
  if (tag !== '' && Buffer.byteLength(tag) <= limits.tagBytesMax) return tag;
  throw badRequest(`The parameter ${name} must have 1 to ${limits.tagBytesMax} bytes.`);
}

const receiverLengthMax = 2048;

/** Which dead letters, or timers. Throws CarillonError. */
export function letterFilterOf(
  parameters: URLSearchParams,
  limits: Limits,
): Omit<LetterFilter, 'namespace'> {
  const receiver = parameters.get('receiver');
  if (receiver !== null && !isReceiver(receiver)) {
    throw badRequest(
      'The parameter receiver must be the origin of callbacks, such as http://a.example:8080, or with the first segments of a path, each of them whole.',
    );
  }
  const failure = parameters.get('failure');
  if (failure !== null && !isFailure(failure)) {
    throw badRequest(
      `The parameter failure must be a class (3xx, 4xx, 5xx), one of ${failureWords.join(', ')}, or an HTTP status from 100 to 599.`,
    );
  }
  return { tag: tagOf(parameters, limits), receiver, failure };
}

function isReceiver(text: string): boolean {
  return text.length <= receiverLengthMax && refuseUri(text) === null;
}

function isFailure(text: string): boolean {
  return /^(?:[1345]xx|[1-5]\d\d)$/.test(text) || failureWords.includes(text);
}
