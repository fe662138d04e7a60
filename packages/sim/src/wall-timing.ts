/**
 * Timers by the wall clock, as a plan draws them: an instant, or a cron pattern whose times are all `intervalMs` apart,
 * counted from midnight. So a checker can say when each pop is due without asking the code that it judges.
 */
import { epochMs } from './world/world.ts';

export type WallTiming =
  /** `intervalMs` after the client asks, and then at the next multiple of `roundMs`: many timers are due together. */
  | { readonly kind: 'at'; readonly roundMs: number; readonly offsetMinutes: number }
  /** `until` ends half an interval after the last of `count` times. */
  | { readonly kind: 'cron'; readonly zone: string | null; readonly ends: 'count' | 'until' };

export interface WallWish {
  readonly intervalMs: number;
  readonly count: number;
  readonly wall: WallTiming;
  /** A pattern without an end. */
  readonly forever?: boolean;
}

/** The hour of the day at the beginning of every world: a pattern that names it pops in that zone, and in no other. */
const hours: Readonly<Record<string, number>> = {
  'Europe/Berlin': 1,
  'Asia/Tokyo': 9,
  'America/New_York': 19,
};

export const zoneNames: readonly string[] = Object.keys(hours);

/** Seconds and minutes of the pattern, by the time between two pops. */
const patterns: Readonly<Record<number, string>> = {
  10_000: '*/10 *',
  20_000: '*/20 *',
  30_000: '*/30 *',
  60_000: '0 *',
  120_000: '0 */2',
};

export const periodsMs: readonly number[] = Object.keys(patterns).map(Number);

/** The instant of a timer that a client asks for at this moment. */
export function instantMs(
  intervalMs: number,
  { roundMs }: { readonly roundMs: number },
  askedMs: number,
) {
  return Math.ceil((askedMs + intervalMs) / roundMs) * roundMs;
}

export function untilMs({ intervalMs, count }: WallWish, askedMs: number): number {
  return (Math.floor(askedMs / intervalMs) + count + 0.5) * intervalMs;
}

/** The timing as clients write it. */
export function wallTimingBody(wish: WallWish, askedMs: number): object {
  const { intervalMs, wall } = wish;
  if (wall.kind === 'at') {
    return { at: instantText(instantMs(intervalMs, wall, askedMs), wall.offsetMinutes) };
  }
  const { zone } = wall;
  const hour = zone === null ? '*' : hours[zone];
  return {
    cron: `${patterns[intervalMs]} ${hour} * * *`,
    ...(zone !== null && { timezone: zone }),
    ...endOf(wish, wall.ends, askedMs),
  };
}

function endOf(wish: WallWish, ends: 'count' | 'until', askedMs: number): object {
  if (wish.forever === true) return { forever: true };
  if (ends === 'count') return { count: wish.count };
  return { until: instantText(untilMs(wish, askedMs), 0) };
}

/** RFC 3339. */
function instantText(ms: number, offsetMinutes: number): string {
  const text = new Date(epochMs + ms + offsetMinutes * 60_000).toISOString();
  if (offsetMinutes === 0) return text;
  const size = Math.abs(offsetMinutes);
  const two = (value: number): string => String(value).padStart(2, '0');
  const sign = offsetMinutes < 0 ? '-' : '+';
  return text.replace('Z', `${sign}${two(Math.floor(size / 60))}:${two(size % 60)}`);
}
