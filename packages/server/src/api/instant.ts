/** RFC 3339 instants and wall-clock milliseconds. */

const form =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,20}))?(?:[Zz]|[+-](\d\d):(\d\d))$/;

/**
 * Wall-clock milliseconds of an RFC 3339 instant, or null when the text is not one. Parts of a millisecond are rounded
 * up: nothing may happen before the instant that was asked for. Leap seconds are not known to computers' clocks.
 */
export function parseInstant(text: string): number | null {
  const match = form.exec(text);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  if (Number(match[8] ?? 0) > 23 || Number(match[9] ?? 0) > 59) return null;
  const ms = Date.parse(text.toUpperCase());
  if (!Number.isFinite(ms)) return null;
  return /[1-9]/.test((match[7] ?? '').slice(3)) ? ms + 1 : ms;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

export function formatInstant(wallMs: number): string {
  return new Date(wallMs).toISOString();
}
