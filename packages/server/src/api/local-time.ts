/** Instants as the clocks of a time zone show them: RFC 3339 with the offset of that moment. */

const fields = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
} as const;

/** `zone` is a known IANA name. One formatter serves all instants of a zone: making it is the dear part. */
export function localTimes(zone: string, wallMs: readonly number[]): string[] {
  const format = new Intl.DateTimeFormat('en', {
    ...fields,
    timeZone: zone,
    hourCycle: 'h23',
    calendar: 'gregory',
    numberingSystem: 'latn',
  });
  return wallMs.map((ms) => localTime(format, ms));
}

function localTime(format: Intl.DateTimeFormat, ms: number): string {
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  const part = (name: Intl.DateTimeFormatPartTypes): number => Number(parts.get(name));
  const [year, month, day] = [part('year'), part('month'), part('day')];
  const [hour, minute, second] = [part('hour'), part('minute'), part('second')];
  const shownMs = Date.UTC(year, month - 1, day, hour, minute, second);
  const restMs = ((ms % 1000) + 1000) % 1000;
  const local = new Date(shownMs + restMs).toISOString().slice(0, -1);
  return `${local}${offset(Math.round((shownMs - (ms - restMs)) / 60_000))}`;
}

function offset(minutes: number): string {
  const two = (n: number): string => String(n).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
