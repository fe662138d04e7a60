/** Where a search by due time begins and ends at one member. Pure. */
import { decodeDefinition, type TimerRecord } from '@carillon/core';
import type { DuePlace } from '../../store/search/search-index.ts';
import { dueWallMs } from '../../timer/due-wall.ts';
import type { ReadParts } from '../read.ts';
import type { SearchAsk } from '../wire/search.ts';
import { rankOf } from './search-order.ts';

export interface SearchParts extends ReadParts {
  /** From the monotonic to the wall clock, in whole milliseconds, the same while the wall clock is not set. */
  readonly distanceMs: () => number;
}

/** Shown times are at most this far from the place in the order (`due-wall.ts`). */
export const slackMs = 60;
/** Above all handles. */
const handleEnd = 2 ** 26 - 1;

/**
 * Whether a record at the millisecond `ms` of the order is in the range that is asked for. Near its ends, the time that
 * clients are shown decides.
 */
export function isInRange(
  record: TimerRecord,
  ms: number,
  search: SearchAsk,
  distanceMs: number,
): boolean {
  if (isInside(ms + distanceMs, search)) return true;
  const at = { nowMs: 0, wallMs: distanceMs };
  const shownMs =
    record.attempt > 0
      ? Math.round(record.retryMs + distanceMs)
      : dueWallMs(record, decodeDefinition(record.body).timing, at);
  return shownMs >= search.fromMs && shownMs < search.toMs;
}

/** Where this member begins: behind the place in the order of all members, and not before the range. */
export function startOf(self: string, { after, fromMs }: SearchAsk, distanceMs: number): DuePlace {
  const ms = after.ms - distanceMs;
  const first = { ms: fromMs - slackMs - distanceMs, handle: -1 };
  if (first.ms > ms) return first;
  const rank = rankOf(self);
  if (rank === after.rank) return { ms, handle: after.handle };
  return { ms, handle: rank < after.rank ? handleEnd : -1 };
}

/** Whether a record at the millisecond `wallMs` is certainly not in the range. */
export function isOutside(wallMs: number, { fromMs, toMs }: SearchAsk): boolean {
  return wallMs < fromMs - slackMs || wallMs >= toMs + slackMs;
}

/** Whether it certainly is. */
export function isInside(wallMs: number, { fromMs, toMs }: SearchAsk): boolean {
  return wallMs >= fromMs + slackMs && wallMs < toMs - slackMs;
}
