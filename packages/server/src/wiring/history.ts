/** The history of a member: on its disk, or in memory where it has none. */
import { HistoryLog } from '../history/log.ts';
import { RamDisk } from '../history/ram-disk.ts';
import type { Parts } from './parts.ts';

const MiB = 1024 * 1024;
const fileBytesMax = 8 * MiB;
/** A history in memory is no longer than this. */
const ramBytesMax = 16 * MiB;
/** A file is no larger than this part of the whole. */
const fileRatio = 1 / 16;

/** null: none is kept. */
export function createHistory(
  parts: Pick<Parts, 'options' | 'quotas' | 'journal'>,
): HistoryLog | null {
  const { env, config } = parts.options;
  const { keepMs } = config.history;
  const bytesMax =
    env.disk === null ? Math.min(config.history.bytesMax, ramBytesMax) : config.history.bytesMax;
  if (bytesMax === 0) return null;
  return new HistoryLog({
    disk: env.disk ?? new RamDisk(),
    clock: env.clock,
    log: env.log,
    limits: {
      keepMs,
      bytesMax,
      budgetOf: (namespace) => parts.quotas.of(namespace).historyBytesMax ?? bytesMax / 2,
      fileBytesMax: Math.min(fileBytesMax, bytesMax * fileRatio),
    },
    isDiskFull: () => parts.journal?.full ?? false,
  });
}
