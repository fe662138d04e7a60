/** Durations and instants as fields show them, both ways and without loss. */
import { parseDuration } from '@carillon/core';

/** A duration such as 10s or 1h30m; a plain number is seconds. null: neither. */
export function secondsOf(text: string): number | null {
  const trimmed = text.trim();
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed);
  const ms = parseDuration(trimmed);
  return ms === null ? null : ms / 1000;
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** `1d`, `1h30m`, `1.5s`, `250ms`: to the millisecond. */
export function durationText(seconds: number): string {
  let leftMs = Math.round(seconds * 1000);
  if (leftMs < 1000 && leftMs > 0) return `${leftMs}ms`;
  let text = '';
  for (const [unit, each] of units) {
    const n = Math.floor(leftMs / each);
    leftMs -= n * each;
    if (n > 0) text += `${n}${unit}`;
  }
  return leftMs > 0 || text === '' ? `${text}${leftMs / 1000}s` : text;
}

/** The local time of an instant as `datetime-local` takes it; '' for a text that is no instant. */
export function localText(instant: string): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return '';
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted
    .toISOString()
    .slice(0, -1)
    .replace(/\.000$/, '');
}

/** The instant of a local time; null: the text is none. */
export function instantOf(local: string): string | null {
  const ms = new Date(local).getTime();
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
