import { expect, test } from 'vitest';
import { concurrently } from './concurrently.ts';

test('begins no more than the limit, in order, and the next when one is done', () => {
  const begun: number[] = [];
  const open = new Map<number, () => void>();
  let finishedCount = 0;
  const begin = (i: number, done: () => void): void => {
    begun.push(i);
    open.set(i, done);
  };
  const end = (i: number): void => {
    open.get(i)?.();
    open.delete(i);
  };
  concurrently({ count: 5, countMax: 2 }, begin, () => finishedCount++);
  expect(begun).toEqual([0, 1]);
  end(1);
  expect(begun).toEqual([0, 1, 2]);
  end(0);
  end(2);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  end(4);
  expect(finishedCount).toBe(0);
  end(3);
  expect(finishedCount).toBe(1);
});

test.each([0, 1, 100_000])(
  '%i that are done at once finish once, and no deeper with each',
  (count) => {
    let begun = 0;
    let finishedCount = 0;
    const begin = (_: number, done: () => void): void => {
      begun++;
      done();
    };
    concurrently({ count, countMax: 3 }, begin, () => finishedCount++);
    expect([begun, finishedCount]).toEqual([count, 1]);
  },
);
