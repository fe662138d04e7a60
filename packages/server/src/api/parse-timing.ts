/** `timing` of a body → core Timing: when a timer pops, and that it ends. The shape has been checked already. */
import type { Ending, Timing } from '@carillon/core';
import { cronFieldFault } from '../timer/cron-fault.ts';
import { firstPop } from '../timer/schedule.ts';
import { instantFault, parseInstant } from './instant.ts';
import { badRequest } from '../http/problem.ts';
import { secondsMax } from './schema/common.ts';
import type { TimingBody } from './schema/timer.ts';
import { slipFor } from './unknown-members.ts';

const kinds = ['interval', 'at', 'cron'] as const;
const endings = ['repeat-for', 'until', 'count', 'forever'] as const;

const once: Ending = { repeatForMs: null, untilMs: null, count: null, forever: false };

/** Seconds as whole milliseconds, rounded up: never early. The tiny amount undoes the error of binary fractions. */
export function wholeMs(seconds: number): number {
  return Math.max(0, Math.ceil(seconds * 1000 - 1e-4));
}

/** Throws CarillonError. */
export function parseTiming(body: TimingBody, wallMs: number): Timing {
  const kind = onlyOne(body, kinds);
  if (kind === null) {
    const slip = slipFor({ timing: body }, '/timing');
    throw badRequest(`The timing needs one of interval, at and cron.${slip}`, '/timing/interval');
  }
  if (body.timezone !== undefined && kind !== 'cron') {
    throw badRequest('A timezone only goes with cron.', '/timing/timezone');
  }
  if (kind === 'interval') return intervalTiming(body, wallMs);
  return kind === 'at' ? atTiming(body, wallMs) : cronTiming(body, wallMs);
}

function intervalTiming(body: TimingBody, wallMs: number): Timing {
  const intervalMs = wholeMs(body.interval as number);
  const ending = parseEnding(body);
  if (intervalMs === 0) {
    if (ending.repeatForMs !== null && ending.repeatForMs > 0) {
      throw badRequest(
        'An interval of 0 pops once: repeat-for must be 0 or absent.',
        '/timing/repeat-for',
      );
    }
    const other = endings.find((name) => name !== 'repeat-for' && body[name] !== undefined);
    if (other !== undefined && body[other] !== false) {
      throw badRequest(
        `An interval of 0 pops once and does not go with ${other}.`,
        `/timing/${other}`,
      );
    }
  }
  if (ending.untilMs !== null && wallMs + intervalMs > ending.untilMs) {
    throw badRequest(
      'The timer would never pop: until comes before the first pop.',
      '/timing/until',
    );
  }
  return { kind: 'interval', intervalMs, ending };
}

function atTiming(body: TimingBody, wallMs: number): Timing {
  const atMs = instantOf(body.at as string, '/timing/at');
  if (atMs > wallMs + secondsMax * 1000) {
    throw badRequest('The instant is more than 100 years ahead.', '/timing/at');
  }
  const ending = endings.find((name) => body[name] !== undefined && body[name] !== false);
  if (ending !== undefined) {
    throw badRequest(
      `A timer at an instant pops once and does not go with ${ending}.`,
      `/timing/${ending}`,
    );
  }
  return { kind: 'at', atMs };
}

function cronTiming(body: TimingBody, wallMs: number): Timing {
  const ending = parseEnding(body);
  if (ending === once) {
    throw badRequest(
      'A cron timer must end: give repeat-for, until or count, or "forever": true.',
      '/timing/forever',
    );
  }
  const timezone = body.timezone ?? null;
  if (timezone !== null && !isTimezone(timezone)) {
    throw badRequest('The timezone is not a known IANA name.', '/timing/timezone');
  }
  const timing: Timing = { kind: 'cron', cron: cronOf(body.cron as string), timezone, ending };
  if (!pops(timing, wallMs)) {
    throw badRequest('The cron pattern would never pop before the timer ends.', '/timing/cron');
  }
  return timing;
}

/** No colon: the cron library would take an instant for a pattern. */
const strangeCharacter = /[^A-Za-z0-9*?,/#@+\- ]/u;

/** The library knows a seventh field, of years: none is promised, and centuries of them take long to look through. */
const fieldCounts: readonly number[] = [5, 6];
const nicknames = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

function cronOf(pattern: string): string {
  const fault = cronTextFault(pattern) ?? cronFault(cronFields(pattern));
  if (fault !== null) throw badRequest(fault, '/timing/cron');
  return pattern;
}

function cronFields(pattern: string): string[] {
  return pattern.split(' ').filter((field) => field !== '');
}

/** A sentence about the text as a whole; null: it has the characters of a pattern. */
function cronTextFault(pattern: string): string | null {
  const [strange] = strangeCharacter.exec(pattern) ?? [];
  if (strange === undefined) return null;
  if (strange.trim() === '') return 'The cron pattern has a tab or line break; put spaces there.';
  return `The cron pattern has the character ${JSON.stringify(strange)}, which no pattern has.`;
}

/** A sentence about the number of fields, or about a name in their place; null: both are as they should be. */
function cronFault(fields: readonly string[]): string | null {
  const [name = ''] = fields;
  if (fields.length === 1 && name.startsWith('@')) {
    const isKnown = nicknames.includes(name.toLowerCase());
    return isKnown ? null : `The cron pattern is none of ${nicknames.join(', ')}.`;
  }
  if (fieldCounts.includes(fields.length)) return null;
  if (fields.length === 0) return 'The cron pattern is empty; "0 9 * * *" is every day at 9:00.';
  const count = fields.length === 1 ? '1 field' : `${fields.length} fields`;
  return `The cron pattern has ${count}; it needs 5, "minute hour day month weekday", or 6 with the second in front.`;
}

function pops(timing: Timing, wallMs: number): boolean {
  try {
    return firstPop(timing, { nowMs: 0, wallMs }) !== null;
  } catch (cause) {
    const fault = timing.kind === 'cron' ? cronFieldFault(cronFields(timing.cron)) : null;
    if (fault !== null) throw badRequest(fault, '/timing/cron');
    const why = cause instanceof Error ? cause.message.replace(/^CronPattern: |\.$/g, '') : '';
    throw badRequest(`The cron pattern is not valid: ${why.slice(0, 200)}.`, '/timing/cron');
  }
}

/** Verdicts on names: each costs as much as making a formatter. */
const zones = new Map<string, boolean>();
const zoneCountMax = 2000;

/** Whether it is the IANA name of a zone. */
export function isTimezone(timezone: string): boolean {
  const known = zones.get(timezone);
  if (known !== undefined) return known;
  const found = isZone(timezone);
  if (zones.size >= zoneCountMax) zones.clear();
  zones.set(timezone, found);
  return found;
}

function isZone(timezone: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]*$/.test(timezone)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone }).format(0);
    return true;
  } catch {
    return false;
  }
}

function parseEnding(body: TimingBody): Ending {
  const ending = onlyOne(body, endings);
  if (ending === null) return once;
  if (ending === 'repeat-for')
    return { ...once, repeatForMs: wholeMs(body['repeat-for'] as number) };
  if (ending === 'until') {
    return { ...once, untilMs: instantOf(body.until as string, '/timing/until') };
  }
  return ending === 'count' ? { ...once, count: body.count as number } : { ...once, forever: true };
}

function instantOf(text: string, pointer: string): number {
  const ms = parseInstant(text);
  if (ms !== null) return ms;
  throw badRequest(instantFault('The instant', text), pointer);
}

/** The one of these members that is there (`forever: false` is not); null when none is. */
function onlyOne<K extends keyof TimingBody>(body: TimingBody, names: readonly K[]): K | null {
  let found: K | null = null;
  for (const name of names) {
    const value = body[name];
    if (value === undefined || value === false) continue;
    if (found !== null) {
      throw badRequest(`A timing has either ${found} or ${name}, not both.`, `/timing/${name}`);
    }
    found = name;
  }
  return found;
}
