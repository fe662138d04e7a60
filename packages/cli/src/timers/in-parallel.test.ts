import { expect, test } from 'vitest';
import { inParallel } from './in-parallel.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('every item is worked on once, so many at a time and no more', async () => {
  const done: number[] = [];
  let busy = 0;
  let most = 0;
  await inParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    most = Math.max(most, ++busy);
    await turn();
    busy--;
    done.push(item);
  });
  expect(done.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(most).toBe(3);
});

test('after a failure nothing further is begun', async () => {
  const begun: number[] = [];
  const work = async (item: number): Promise<void> => {
    begun.push(item);
    await turn();
    if (item === 1) throw new Error('no');
    await turn();
  };
  await expect(inParallel([1, 2, 3, 4, 5, 6], 2, work)).rejects.toThrow('no');
  await turn();
  await turn();
  expect(begun).toEqual([1, 2]);
});
