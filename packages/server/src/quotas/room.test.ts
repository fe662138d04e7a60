import { State } from '@carillon/core';
import { expect, test } from 'vitest';
import { defaultConfig } from '../config/config.ts';
import { recordOf } from '../testing/records.ts';
import { QuotaTable } from './quota-table.ts';
import { FullBoxes } from './room.ts';
import { Usage } from './usage.ts';

test('full letter boxes are counted over many namespaces, ten thousand of them in one turn', () => {
  const { limits } = defaultConfig;
  const quotas = new QuotaTable({ namespaces: { '*': { letterCountMax: 1 } }, limits });
  const usage = new Usage();
  for (let i = 0; i < 25_000; i++) {
    const state = i % 5 === 0 ? State.dead : State.live;
    usage.count(recordOf({ namespace: `n${i}`, state }), 1);
  }
  let looked = 0;
  const of = usage.of.bind(usage);
  usage.of = (name) => {
    looked++;
    return of(name);
  };
  const boxes = new FullBoxes({ quotas, usage, limits });
  const counts = [1, 2, 3].map(() => boxes.count());
  expect([counts, looked]).toEqual([[0, 0, 5000], 25_000]);
});
