/**
 * Keeps the quotas of namespaces as the configuration has them, while the member runs: read again when told to (SIGHUP) and when the
 * configuration file changes. A configuration that cannot be used is reported, and the quotas stay as they were.
 */
import type { Log } from '@carillon/core';
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
  /** Never throws. */
  readonly reload: () => void;
  readonly close: () => void;
}

export function rereadQuotas({ table, log, read, file }: RereadOptions): RereadQuotas {
  let known = textOf(read);
  const reload = (): void => {
    try {
      const quotas = read();
      const text = JSON.stringify(quotas);
      if (text === known) return;
      known = text;
      table.use(quotas);
      log.info('The quotas of namespaces changed.', {
        event: 'quotas-reloaded',
        namespaces: Object.keys(quotas),
      });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.error('The configuration cannot be used; quotas stay as they were.', {
        event: 'quotas-unusable',
        reason,
      });
    }
  };
  return { reload, close: file === null ? () => undefined : watchFile(file, reload) };
}

function textOf(read: () => Quotas): string {
  try {
    return JSON.stringify(read());
  } catch {
    return '';
  }
}
