import { expect, it } from 'vitest';
import { defaultConfig } from '../config/config.ts';
import { silentLog } from '../testing/one-member.ts';
import type { Quotas } from '../config/quota.ts';
import { QuotaTable } from './quota-table.ts';
import { rereadQuotas } from './reread-quotas.ts';

it('a configuration that is read again is in force; one that cannot be used changes nothing', () => {
  const table = new QuotaTable(defaultConfig);
  const told: string[] = [];
  const log = {
    ...silentLog,
    info: (text: string) => told.push(text),
    error: (text: string) => told.push(text),
  };
  let read = (): Quotas => ({});
  const quotas = rereadQuotas({ table, log, read: () => read(), file: null });
  quotas.reload();
  expect(told).toEqual([]);
  read = () => ({ a: { timerCountMax: 5 } });
  quotas.reload();
  expect(table.of('a').timerCountMax).toBe(5);
  read = () => {
    throw new Error('The option namespaces must be an object.');
  };
  quotas.reload();
  expect(table.of('a').timerCountMax).toBe(5);
  expect(told).toEqual([
    'The quotas of namespaces changed.',
    'The configuration cannot be used; quotas stay as they were.',
  ]);
  quotas.close();
});
