import { expect, test } from 'vitest';
import { Batches } from './batches.ts';

test('items go in batches of 500, in order, and the rest at the end', async () => {
  const sent: number[][] = [];
  const batches = new Batches<number>(async (items) => void sent.push([...items]));
  for (let i = 0; i < 1201; i++) await batches.add(i, 1);
  await batches.end();
  expect(sent.map((items) => items.length)).toEqual([500, 500, 201]);
  expect(sent.flat()).toEqual(Array.from({ length: 1201 }, (_, i) => i));
});

test('large items go in smaller batches', async () => {
  const sizes: number[] = [];
  const batches = new Batches<number>(async (items) => void sizes.push(items.length));
  for (let i = 0; i < 5; i++) await batches.add(i, 400_000);
  await batches.end();
  expect(sizes).toEqual([3, 2]);
});

test('no more than four batches are under way', async () => {
  const gates: (() => void)[] = [];
  const batches = new Batches<number>(() => new Promise((resolve) => gates.push(resolve)));
  const adding = (async () => {
    for (let i = 0; i < 3000; i++) await batches.add(i, 1);
  })();
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  await settle();
  expect(gates).toHaveLength(4);
  while (gates.length > 0) {
    gates.shift()?.();
    await settle();
  }
  await adding;
  await batches.end();
});

test('a batch that fails ends it: no further batch is sent', async () => {
  let count = 0;
  const batches = new Batches<number>(() => {
    count++;
    return Promise.reject(new Error('nobody answers'));
  });
  await expect(
    (async () => {
      for (let i = 0; i < 10_000; i++) await batches.add(i, 1);
      await batches.end();
    })(),
  ).rejects.toThrow('nobody answers');
  expect(count).toBeLessThanOrEqual(4);
});
