/** Numbers, times and names as people read them. */
import type { TimingShape } from './parts/shapes.ts';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function count(value: number): string {
  return whole.format(value);
}

/** `1 timer`, `2 timers`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function percent(ratio: number): string {
  const value = ratio * 100;
  return `${value > 0 && value < 9.95 ? value.toFixed(1) : value.toFixed(0)} %`;
}

/** Three digits at most: `0.4 ms`, `12 ms`, `1.25 s`, `3 min`. */
export function milliseconds(ms: number): string {
  const size = Math.abs(ms);
  if (size < 10) return `${trimmed(ms.toFixed(1))} ms`;
  if (size < 1000) return `${ms.toFixed(0)} ms`;
  if (size < 10_000) return `${trimmed((ms / 1000).toFixed(2))} s`;
  if (size < 120_000) return `${trimmed((ms / 1000).toFixed(1))} s`;
  return span(ms / 1000);
}

function trimmed(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

const units: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
];

/** The two largest units that matter: `2 h 5 min`, `40 s`. */
export function span(seconds: number): string {
  if (Math.abs(seconds) < 60) return `${trimmed(seconds.toFixed(seconds < 10 ? 1 : 0))} s`;
  let left = Math.round(Math.abs(seconds));
  const parts: string[] = [];
  for (const [unit, size] of [...units, ['s', 1] as const]) {
    const n = Math.floor(left / size);
    left -= n * size;
    if (n > 0) parts.push(`${n} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return `${seconds < 0 ? '−' : ''}${parts.join(' ')}`;
}

/** Before that, a callback may be under way, or a backup makes it in a moment. */
const lateMsMin = 5000;

export function isLate(untilMs: number, nowMs: number): boolean {
  return nowMs - untilMs > lateMsMin;
}

/** The time until an instant: `in 4.2 s`, `now` once it is there, `24 s late`. */
export function countdown(untilMs: number, nowMs: number): string {
  const leftMs = untilMs - nowMs;
  if (isLate(untilMs, nowMs)) return `${span(-leftMs / 1000)} late`;
  if (leftMs <= 0) return 'now';
  return `in ${leftMs < 10_000 ? `${(leftMs / 1000).toFixed(1)} s` : span(leftMs / 1000)}`;
}

/** How often and how long, in words. */
export function timingText(timing: TimingShape): string {
  if (timing.at !== undefined) return `at ${instant(timing.at)}`;
  const often =
    timing.cron === undefined
      ? `every ${span(timing.interval ?? 0)}`
      : `cron ${timing.cron}${timing.timezone === undefined ? '' : `, ${timing.timezone}`}`;
  if (timing.forever === true) return `${often}, for ever`;
  if (timing.count !== undefined) return `${often}, ${counted(timing.count, 'pop')}`;
  if (timing.until !== undefined) return `${often}, until ${instant(timing.until)}`;
  const repeatFor = timing['repeat-for'] ?? 0;
  const once = timing.cron === undefined && repeatFor < 2 * (timing.interval ?? 0);
  if (once) return `once, after ${span(timing.interval ?? 0)}`;
  return `${often}, for ${span(repeatFor)}`;
}

/** An RFC 3339 instant in the time zone of the browser. */
export function instant(text: string): string {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return text;
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** The part of a timer id that identifies it. */
export function shortId(id: string): string {
  return id.slice(0, 16);
}

/** A number of events a second. */
export function rate(perSecond: number): string {
  return perSecond < 10 ? trimmed(perSecond.toFixed(1)) : count(perSecond);
}

export function signed(ms: number): string {
  if (Math.abs(ms) < 0.05) return '0 ms';
  return `${ms > 0 ? '+' : '−'}${milliseconds(Math.abs(ms))}`;
}

/** A sentence to stand within another one: without its full stop. */
export function withoutStop(sentence: string): string {
  const text = sentence.trimEnd();
  return text.endsWith('.') && !text.endsWith('..') ? text.slice(0, -1) : text;
}
