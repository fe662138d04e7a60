/** Brings the records on disk back into the parts of a member. */
import type { DiskError } from '@carillon/core';
import { NumberSource } from '@carillon/core';
import type { Awakening } from '../cluster/disk/disk-care.ts';
import { Journal } from '../store/journal/journal.ts';
import type { Parts } from './parts.ts';

/** How long the member was away, as far as its disk tells. */
export async function recover(parts: Parts): Promise<Awakening> {
  const { options, replica, metrics, diskCare } = parts;
  const { disk, clock, log } = options.env;
  if (disk === null) return { awaySinceMs: null, onMended: null };
  const journal = await Journal.open({
    disk,
    clock,
    log,
    identity: parts.identity,
    replay: {
      put: (record) => replica.restore(record),
      drop: (hi, lo) => replica.forget(hi, lo),
      rows: (bytes, baseMs) => replica.restoreRows(bytes, baseMs),
      rowsEnd: () => replica.endRestore(),
    },
    singles: () => replica.singles,
    onFailed: (error: DiskError) => options.onFailed(error),
    onSync: (tookMs) => metrics.journalSync.observe(tookMs),
  });
  parts.journal = journal;
  const { marked } = journal;
  const { historySinceMs, awakening } = await diskCare.begin(disk, journal, replica.singles);
  parts.historySinceMs = historySinceMs;
  // No mark before this member is among the others: one whose start fails now is still away.
  parts.numbers = new NumberSource(marked);
  return awakening;
}
