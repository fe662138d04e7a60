/** RFC 3339 instants and wall-clock milliseconds. */
import { missingDay } from '@carillon/core';

const form =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,20}))?(?:[Zz]|[+-](\d\d):(\d\d))$/;

/**
 * Wall-clock milliseconds of an RFC 3339 instant, or null when the text is not one. Parts of a millisecond are rounded
 * up: nothing may happen before the instant that was asked for. Leap seconds are not known to computers' clocks.
 */
export function parseInstant(text: string): number | null {
  const match = form.exec(text);
  if (match === null) return null;
  if (missingDay(text) !== null) return null;
  const [hour, minute, second] = match.slice(4, 7).map(Number) as [number, number, number];
  if (hour > 23 || minute > 59 || second > 59) return null;
  if (Number(match[8] ?? 0) > 23 || Number(match[9] ?? 0) > 59) return null;
  const ms = Date.parse(text.toUpperCase());
  if (!Number.isFinite(ms)) return null;
  return /[1-9]/.test((match[7] ?? '').slice(3)) ? ms + 1 : ms;
}

/** The sentence about a text that is no instant; `subject` is its beginning. */
export function instantFault(subject: string, text: string): string {
  const day = missingDay(text);
  const looksRight = form.test(text);
  if (looksRight && day !== null) return `${subject} has the day ${day}, which does not exist.`;
  if (looksRight) return `${subject} has a time of day or an offset that does not exist.`;
  const right = `${subject} must look like 2026-01-31T12:00:00Z (RFC 3339)`;
  // A plus in a query is a blank.
  return form.test(text.replace(' ', '+')) ? `${right}, in a URL with + as %2B.` : `${right}.`;
}

export function formatInstant(wallMs: number): string {
  return new Date(wallMs).toISOString();
}
