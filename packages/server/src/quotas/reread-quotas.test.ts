import { expect, it } from 'vitest';
import { defaultConfig } from '../config/config.ts';
import { silentLog } from '../testing/one-member.ts';
import type { Quotas } from '../config/quota.ts';
import { QuotaTable } from './quota-table.ts';
import { rereadQuotas } from './reread-quotas.ts';

it('a changed configuration is in force at once; a configuration that cannot be used changes nothing', async () => {
  const table = new QuotaTable(defaultConfig);
  const told: string[] = [];
  const log = {
    ...silentLog,
    info: (text: string) => told.push(text),
    error: (text: string) => told.push(text),
  };
  let read = (): Quotas => ({});
  const quotas = await rereadQuotas({ table, log, read: () => read(), file: null });
  await quotas.reload();
  expect(told).toEqual([]);
  read = () => ({ a: { timerCountMax: 5 } });
  await quotas.reload();
  expect(table.of('a').timerCountMax).toBe(5);
  read = () => {
    throw new Error('The option namespaces must be an object.');
  };
  await quotas.reload();
  expect(table.of('a').timerCountMax).toBe(5);
  expect(told).toEqual([
    'The configuration of quotas changed.',
    'The configuration of quotas cannot be used; everything stays as it was.',
  ]);
  quotas.close();
});
