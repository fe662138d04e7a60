/**
 * The timing of a timer: typed fields → the form of the API, and back. A text instead of a timing says the right form.
 */
import type { TimingShape } from '../../parts/shapes.ts';
import { durationText, instantOf, localText, secondsOf } from './text.ts';
import type { TypedTimer } from './typed-timer.ts';

export function timingOf(typed: TypedTimer): TimingShape | string {
  if (typed.kind === 'at') {
    const at = exactInstant(typed, typed.at);
    return at === null ? 'Choose a date and a time.' : { at };
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

function endingOf(typed: TypedTimer): TimingShape | string {
  switch (typed.ending) {
    case 'forever':
      return { forever: true };
    case 'count': {
      const pops = Number(typed.count);
      const isCount = Number.isInteger(pops) && pops > 0;
      return isCount ? { count: pops } : 'Type how many pops, 1 or more.';
    }
    case 'for': {
      const seconds = secondsOf(typed.repeatFor);
      if (seconds === null) return 'Type for how long it pops, such as 1h.';
      return { 'repeat-for': seconds };
    }
    case 'until': {
      const until = exactInstant(typed, typed.until);
      return until === null ? 'Choose the date and time of the end.' : { until };
    }
    case 'once':
      return typed.kind === 'cron' ? { count: 1 } : {};
  }
}

function exactInstant({ kept }: TypedTimer, local: string): string | null {
  return kept.instants[local] ?? instantOf(local);
}

type TypedTiming = Pick<TypedTimer, 'kind'> & Partial<TypedTimer>;

/** The fields of the form for a timing. */
export function typedTiming(timing: TimingShape): TypedTiming {
  if (timing.at !== undefined) return { kind: 'at', at: localText(timing.at), ending: 'once' };
  const end = typedEnding(timing);
  if (timing.cron !== undefined)
    return { kind: 'cron', cron: timing.cron, timezone: timing.timezone ?? '', ...end };
  return { kind: 'interval', interval: durationText(timing.interval ?? 0), ...end };
}

function typedEnding(timing: TimingShape): Partial<TypedTimer> {
  if (timing.forever === true) return { ending: 'forever' };
  if (timing.count !== undefined) return { ending: 'count', count: String(timing.count) };
  if (timing.until !== undefined) return { ending: 'until', until: localText(timing.until) };
  const repeatFor = timing['repeat-for'];
  if (repeatFor === undefined) return { ending: 'once' };
  return { ending: 'for', repeatFor: durationText(repeatFor) };
}

/** The instants of a timing by their local texts. */
export function instantsOf({ at, until }: TimingShape): Record<string, string> {
  const all = [at, until].filter((instant) => instant !== undefined);
  return Object.fromEntries(all.map((instant) => [localText(instant), instant]));
}
