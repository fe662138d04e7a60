import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TimerHeap } from './heap.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('pops come in the order of their due times, none early and none when cancelled', () => {
  const heap = new TimerHeap();
  const popped: [dueMs: number, atMs: number][] = [];
  const startMs = Date.now();
  // 0 … 999 in an order without order: 37 and 1,000 have no common divisor.
  for (let i = 0; i < 1000; i++) {
    const dueMs = startMs + ((i * 37) % 1000);
    const entry = heap.add(dueMs, () => popped.push([dueMs, Date.now()]));
    if (i % 10 === 0) entry.pop = null;
  }
  vi.advanceTimersByTime(2000);
  expect(popped).toHaveLength(900);
  const dues = popped.map(([dueMs]) => dueMs);
  expect(dues).toEqual(dues.toSorted((a, b) => a - b));
  expect(popped.every(([dueMs, atMs]) => atMs >= dueMs)).toBe(true);
});

test('a timer set from within a pop pops too', () => {
  const heap = new TimerHeap();
  const popped: string[] = [];
  heap.add(Date.now() + 10, () => {
    popped.push('first');
    heap.add(Date.now() + 5, () => popped.push('second'));
  });
  vi.advanceTimersByTime(14);
  expect(popped).toEqual(['first']);
  vi.advanceTimersByTime(1);
  expect(popped).toEqual(['first', 'second']);
});
