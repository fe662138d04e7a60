/** The moment from which entries are shown. */
import { parseDuration } from '@carillon/core';
import { instant } from '../../options.ts';

/** A duration before now, or an instant; undefined: from the oldest entry on. */
export function sinceOf(text: string | undefined, nowMs: number): Date | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms !== null) return new Date(nowMs - ms);
  const form = 'a duration such as 2h, or an instant such as 2026-01-31T18:00:00Z';
  return instant('--since', text, form);
}
