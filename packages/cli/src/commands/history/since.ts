/** The moment from which entries are shown. */
import { parseDuration } from '@carillon/core';
import { UsageError } from '../../command.ts';

/** A duration before now, or an instant; undefined: from the oldest entry on. */
export function sinceOf(text: string | undefined, nowMs: number): Date | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms !== null) return new Date(nowMs - ms);
  const at = new Date(text);
  if (/^\d{4}-/.test(text) && !Number.isNaN(at.getTime())) return at;
  throw new UsageError(
    `--since must be a duration such as 2h, or an instant such as 2026-01-31T18:00:00Z, not "${text}".`,
  );
}
