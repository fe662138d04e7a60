/**
 * Timers in the API's own form, whole, as `export` writes them and `import` and `apply` send and compare them. The
 * client's `Timer` is for reading and leaves out fields that only a definition needs.
 */
import { isDeepStrictEqual } from 'node:util';
import { type ApiAnswer, ApiError, type Carillon } from '@carillon/client';
import type { Io } from '../command.ts';

export type Json = Readonly<Record<string, unknown>>;

/** A timer as the API gives it. */
export interface ApiTimer {
  readonly id: string;
  /** The body that would set it: timing, callback, reliability, statistics, tags. */
  readonly definition: Json;
  readonly set: string;
  /** Pops so far. */
  readonly sequence: number;
  readonly nextDue: string | null;
}

const pageLength = 1000;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member that is an object; empty where it is missing. */
export function inner(json: Json, name: string): Json {
  const value = json[name];
  return isJson(value) ? value : {};
}

/** A member that is a list; empty where it is missing. */
export function arrayOf(json: Json | null, name: string): readonly unknown[] {
  const value = json?.[name];
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function readApiTimer(json: Json): ApiTimer {
  const { timing, callback, reliability, statistics, tags } = json;
  const definition = {
    timing,
    callback,
    reliability,
    ...(statistics !== undefined && { statistics }),
    ...(tags !== undefined && { tags }),
  };
  return timerOf(json, definition);
}

/** A timer, from the members of JSON that answers of the API and lines of an export share. */
export function timerOf(json: Json, definition: Json): ApiTimer {
  const { sequence } = json;
  return {
    id: textOf(json['id']),
    definition,
    set: textOf(json['set']),
    sequence: typeof sequence === 'number' ? sequence : 0,
    nextDue: textOf(json['next-due']) || null,
  };
}

/** null: there is none. `headers`: of the request. */
export async function getTimer(
  client: Carillon,
  id: string,
  io: Io,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiTimer | null> {
  const json = await getJson(client, { path: `/timers/${id}`, needs: 'id', headers }, io);
  return json === null ? null : readApiTimer(json);
}

export interface Question {
  readonly path: string;
  /** A member that every answer has; without it, the answer is not one of Carillon. */
  readonly needs: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer of the API as it is; null: there is none (404). */
export async function getJson(
  client: Carillon,
  { path, needs, headers = {} }: Question,
  io: Io,
): Promise<Json | null> {
  const fits = ({ body }: ApiAnswer): boolean => isJson(body) && body[needs] !== undefined;
  const { signal } = io;
  try {
    return (await client.request({ method: 'GET', path, headers, signal, fits })).body as Json;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** Whether an answer is that of a member to a change: it names the timer. */
export function namesTimer({ headers }: ApiAnswer): boolean {
  return headers.has('location');
}

export interface Pages {
  readonly path: string;
  /** The member of a page that has its items; default: as the path. */
  readonly items?: string;
  /** Which of them: tag, state, member, role. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly pageSize?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly onMissing: (members: readonly string[]) => void;
}

/** Every timer, dead letter or entry of the cluster. */
export async function* listJson(
  client: Carillon,
  pages: Pages,
  io: Io,
): AsyncGenerator<Json, void, undefined> {
  const { path, query: which = {}, pageSize = pageLength, headers = {}, onMissing } = pages;
  let cursor: string | undefined;
  do {
    const query = { ...which, limit: String(pageSize), cursor };
    const { signal } = io;
    const name = pages.items ?? path.slice(1);
    const fits = ({ body }: ApiAnswer): boolean => isJson(body) && Array.isArray(body[name]);
    const { body } = await client.request({ method: 'GET', path, query, headers, signal, fits });
    const page = body as Json;
    const { missing } = page;
    if (Array.isArray(missing) && missing.length > 0) onMissing(missing.map(String));
    yield* arrayOf(page, name).filter(isJson);
    cursor = textOf(page['cursor']) || undefined;
  } while (cursor !== undefined);
}

/** Whether setting `wanted` would leave the behaviour of a timer defined by `present` unchanged. */
export function sameDefinition(present: Json, wanted: Json): boolean {
  const retry = inner(wanted, 'callback')['retry'];
  return (
    sameRetry(inner(present, 'callback')['retry'], retry) &&
    isDeepStrictEqual(normal(present), normal(wanted))
  );
}

/** The cluster fills in the fields that a retry policy leaves out. */
function sameRetry(present: unknown, wanted: unknown): boolean {
  if (!isJson(wanted)) return present === undefined;
  if (!isJson(present)) return false;
  return Object.entries(wanted).every(([name, value]) => present[name] === value);
}

function normal(definition: Json): Json {
  const http = inner(inner(definition, 'callback'), 'http');
  const { tags } = definition;
  return {
    timing: normalTiming(inner(definition, 'timing')),
    http: {
      ...http,
      method: http['method'] ?? 'POST',
      opaque: http['opaque'] ?? '',
      headers: Object.fromEntries(
        Object.entries(inner(http, 'headers')).map(([name, value]) => [name.toLowerCase(), value]),
      ),
    },
    factor: inner(definition, 'reliability')['replication-factor'],
    tagInfo: inner(definition, 'statistics')['tag-info'] ?? [],
    tags: new Set(Array.isArray(tags) ? tags : []),
  };
}

function normalTiming(timing: Json): Json {
  return Object.fromEntries(
    Object.entries(timing).flatMap(([name, value]) => {
      if (value === undefined || value === false) return [];
      return [[name, name === 'at' || name === 'until' ? Date.parse(textOf(value)) : value]];
    }),
  );
}
