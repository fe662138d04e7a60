import { expect, test } from 'vitest';
import { actOnMany, type Progress } from './many.ts';

const ids = Array.from({ length: 20 }, (_, i) => String(i));

test('every item is tried once, and a failure stops no other', async () => {
  const tried: string[] = [];
  const told: Progress[] = [];
  const act = async (id: string): Promise<void> => {
    tried.push(id);
    if (id === '3' || id === '5') throw new Error(`no ${id}`);
  };
  const result = await actOnMany(
    ids,
    act,
    (progress) => told.push(progress),
    () => false,
  );
  expect(tried.toSorted((a, b) => Number(a) - Number(b))).toEqual(ids);
  expect(result).toEqual({ total: 20, done: 18, failed: 2, why: 'no 3' });
  expect(told).toHaveLength(20);
});

test('nothing is begun after the stop', async () => {
  let stopped = false;
  let tried = 0;
  const act = async (): Promise<void> => {
    stopped = ++tried >= 4;
  };
  await actOnMany(
    ids,
    act,
    () => undefined,
    () => stopped,
  );
  expect(tried).toBeLessThan(12);
});
