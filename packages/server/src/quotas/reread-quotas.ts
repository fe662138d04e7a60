/**
 * Keeps the quotas of namespaces as the configuration has them, while the member runs: read again when told to (SIGHUP)
 * and when the configuration file changes. A configuration that cannot be used is reported, and the quotas stay as they
 * were.
 */
import type { Log } from '@carillon/core';
import { Reloading } from '../config/reloading.ts';
import { watchFile } from '../config/watch-file.ts';
import type { Quotas } from '../config/quota.ts';
import type { QuotaTable } from './quota-table.ts';

export interface RereadOptions {
  readonly table: QuotaTable;
  readonly log: Log;
  /** Throws with a sentence when the configuration cannot be used. */
  readonly read: () => Quotas;
  /** null: there is none. */
  readonly file: string | null;
}

export interface RereadQuotas {
  /** Never rejects. */
  readonly reload: () => Promise<void>;
  readonly close: () => void;
}

export async function rereadQuotas(options: RereadOptions): Promise<RereadQuotas> {
  const { table, log, read, file } = options;
  let newest: Quotas = {};
  const reloading = await Reloading.open<Quotas>({
    what: 'The configuration of quotas',
    files: file === null ? [] : [file],
    read: async () => {
      newest = read();
      return [JSON.stringify(newest)];
    },
    make: () => newest,
    log,
    changed: (quotas) => table.use(quotas),
  });
  const reload = (): Promise<void> => reloading.reload();
  return { reload, close: file === null ? () => undefined : watchFile(file, () => void reload()) };
}
