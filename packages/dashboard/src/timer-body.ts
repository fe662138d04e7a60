/** Turns the typed fields into the body of `POST /timers`. An error shows the right form; the member checks the rest. */
import { parseDuration } from '@carillon/core';

export interface TypedTimer {
  readonly kind: 'interval' | 'at' | 'cron';
  readonly interval: string;
  /** Local time, as the browser's field gives it. */
  readonly at: string;
  readonly cron: string;
  readonly timezone: string;
  /** once, count, for, forever. */
  readonly ending: string;
  readonly count: string;
  readonly repeatFor: string;
  readonly uri: string;
  readonly opaque: string;
  readonly tags: string;
  readonly factor: string;
}

export type Typed = { readonly body: object } | { readonly wrong: string };

export function timerBody(typed: TypedTimer): Typed {
  const timing = timingOf(typed);
  if (typeof timing === 'string') return { wrong: timing };
  if (!/^https?:\/\/./.test(typed.uri.trim())) {
    return {
      wrong: 'The callback needs an http or https address, such as http://127.0.0.1:8080/done.',
    };
  }
  const tags = typed.tags.split(/[,\s]+/).filter((tag) => tag !== '');
  const factor = Number(typed.factor);
  return {
    body: {
      timing,
      callback: { http: { uri: typed.uri.trim(), opaque: typed.opaque } },
      ...(typed.factor !== '' && { reliability: { 'replication-factor': factor } }),
      ...(tags.length > 0 && { tags }),
    },
  };
}

function timingOf(typed: TypedTimer): object | string {
  if (typed.kind === 'at') {
    const atMs = new Date(typed.at).getTime();
    return Number.isNaN(atMs) ? 'Choose a date and a time.' : { at: new Date(atMs).toISOString() };
  }
  const end = endingOf(typed);
  if (typeof end === 'string') return end;
  if (typed.kind === 'cron') {
    if (typed.cron.trim() === '') return 'Type a cron expression, such as 0 9 * * 1-5.';
    const timezone = typed.timezone.trim();
    return { cron: typed.cron.trim(), ...(timezone !== '' && { timezone }), ...end };
  }
  const seconds = secondsOf(typed.interval);
  if (seconds === null) return 'Type how long to wait, such as 10s, 5m or 2h.';
  return { interval: seconds, ...end };
}

function endingOf({ kind, ending, count, repeatFor }: TypedTimer): object | string {
  if (ending === 'forever') return { forever: true };
  if (ending === 'count') {
    const pops = Number(count);
    return Number.isInteger(pops) && pops > 0 ? { count: pops } : 'Type how many pops, 1 or more.';
  }
  if (ending === 'for') {
    const seconds = secondsOf(repeatFor);
    return seconds === null ? 'Type for how long it pops, such as 1h.' : { 'repeat-for': seconds };
  }
  return kind === 'cron' ? { count: 1 } : {};
}

/** A duration such as 10s or 1h30m; a plain number is seconds. */
function secondsOf(text: string): number | null {
  const trimmed = text.trim();
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed);
  const ms = parseDuration(trimmed);
  return ms === null ? null : ms / 1000;
}
