/**
 * One line of an export → the id and body that set the timer again. Pure; `import.ts` reads lines and asks the cluster.
 */
import { hex16, nearestWord, parseTimerId } from '@carillon/core';
import { unknownSentence } from '@carillon/server';
import {
  type ApiTimer,
  inner,
  isJson,
  type Json,
  sameDefinition,
  textOf,
  timerOf,
} from './api-timer.ts';

/** An interval is kept on a clock that runs evenly: told by the wall clock, its due time moves a little. */
const sameDueMs = 1000;

export type ImportLine =
  | { readonly kind: 'timer'; readonly timer: ImportTimer }
  | { readonly kind: 'dead-letter' }
  /** `why` is a sentence. */
  | { readonly kind: 'bad'; readonly why: string };

export interface ImportTimer {
  /** Number and factor: where the timer lives is for this cluster to say. */
  readonly id: string;
  readonly exported: ApiTimer;
  readonly body: Json;
  /** When it pops, where that is kept; null: its intervals begin anew. */
  readonly atMs: number | null;
  /** Where it came from; null: the line does not say. */
  readonly namespace: string | null;
}

export function readImportLine(text: string): ImportLine {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return bad('This is not JSON.');
  }
  if (!isJson(json)) return bad('A line must be an object.');
  if (isJson(json['dead-letter'])) return { kind: 'dead-letter' };
  const unknown = Object.keys(json).find((name) => !lineNames.includes(name));
  if (unknown !== undefined) return bad(strangeName(unknown));
  const id = parseTimerId(textOf(json['id']));
  if (id === null) return bad('The member "id" must be the id of a timer.');
  const { definition } = json;
  if (!isJson(definition)) return bad('The member "definition" must be an object.');
  const why = unknownSentence(definition, '/definition');
  if (why !== null) return bad(why);
  const { namespace = null } = json;
  if (namespace !== null && (typeof namespace !== 'string' || !/^[a-z0-9._-]+$/.test(namespace))) {
    return bad('The member "namespace" must be the name of a namespace.');
  }
  const exported = timerOf(json, definition);
  const timing = remaining(exported);
  const at = Date.parse(textOf(timing['at']));
  const reliability = { 'replication-factor': id.factor };
  return {
    kind: 'timer',
    timer: {
      id: `${hex16(id.hi, id.lo)}-${id.factor}`,
      exported,
      body: { ...definition, timing, reliability },
      atMs: Number.isNaN(at) ? null : at,
      namespace,
    },
  };
}

const lineNames = ['id', 'namespace', 'definition', 'set', 'sequence', 'next-due'];

function strangeName(name: string): string {
  const near = nearestWord(name, lineNames, Math.max(1, Math.floor(name.length / 3)));
  const hint = near === null ? `It has ${lineNames.join(', ')}.` : `Did you mean /${near}?`;
  return `A line has no member /${name}. ${hint}`;
}

function bad(why: string): ImportLine {
  return { kind: 'bad', why };
}

/** Whether the cluster has the timer as the export or an earlier import left it. */
export function isThere(present: ApiTimer, { exported, body, atMs }: ImportTimer): boolean {
  if (sameDefinition(present.definition, body)) return true;
  if (
    !sameDefinition(present.definition, {
      ...exported.definition,
      reliability: body['reliability'],
    })
  )
    return false;
  return atMs === null || Math.abs(Date.parse(present.nextDue ?? '') - atMs) <= sameDueMs;
}

/**
 * The rest of a timing. A single pop keeps its instant; a recurring timer goes on for as often or as long as it had
 * left.
 */
function remaining({ definition, set, sequence, nextDue }: ApiTimer): Json {
  const timing = inner(definition, 'timing');
  const { interval, until } = timing;
  const { 'repeat-for': repeatFor, ...rest } = timing;
  const count = popCount(timing);
  if (nextDue !== null && !('cron' in timing)) {
    const nextMs = Date.parse(nextDue);
    const last = typeof until === 'string' && nextMs + ms(interval) > Date.parse(until);
    if (last || (count !== null && count - sequence <= 1)) return { at: nextDue };
  }
  if (count !== null) return { ...rest, count: Math.max(1, count - sequence) };
  const endMs = Date.parse(set) + ms(repeatFor);
  return Number.isNaN(endMs) ? timing : { ...rest, until: new Date(endMs).toISOString() };
}

/** Pops in all; null: no number says so. */
function popCount(timing: Json): number | null {
  const { interval, count, until, forever, 'repeat-for': repeatFor } = timing;
  if (typeof count === 'number') return count;
  if ('cron' in timing || until !== undefined || forever === true) return null;
  return typeof repeatFor === 'number' && ms(interval) > 0
    ? Math.max(1, Math.floor(ms(repeatFor) / ms(interval)))
    : 1;
}

/** NaN where there are no seconds. */
function ms(seconds: unknown): number {
  return typeof seconds === 'number' ? Math.round(seconds * 1000) : Number.NaN;
}
