import { expect, test } from 'vitest';
import { paced } from './paced.ts';

test('items come no faster than the rate', async () => {
  const startMs = performance.now();
  const came: number[] = [];
  for await (const _ of paced([1, 2, 3, 4], 50, new AbortController().signal))
    came.push(performance.now() - startMs);
  // A timer of the system may run a millisecond early.
  for (const [i, atMs] of came.entries()) expect(atMs).toBeGreaterThan(i * 20 - 2);
});

test('waiting ends when the command is stopped', async () => {
  const stop = new AbortController();
  const items = paced([1, 2], 0.001, stop.signal);
  await items.next();
  const second = items.next();
  stop.abort();
  await expect(second).rejects.toThrow('abort');
});
