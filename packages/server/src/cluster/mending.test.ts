import { VirtualClock } from '@carillon/core/testing';
import { expect, it } from 'vitest';
import { Mending, type MendingParts } from './mending.ts';

/** Two other members; each comparison brings the records that are left there, a thousand at a time. */
function scene(part: Partial<MendingParts> = {}) {
  const clock = new VirtualClock();
  const left: Record<string, number> = { b: 2500, c: 0 };
  const done: number[] = [];
  const silent = new Set<string>();
  const mending = new Mending({
    clock,
    others: () => ['b', 'c'],
    absent: () => false,
    compare: (name, ended) => {
      if (silent.has(name)) return ended(null);
      const brought = Math.min(1000, left[name] ?? 0);
      left[name] = (left[name] ?? 0) - brought;
      ended(brought);
    },
    doubtfulCount: () => 0,
    onDone: (asked) => done.push(asked),
    ...part,
  });
  return { clock, left, done, silent, mending };
}

it('compares with all members until nothing newer comes, and says so once', async () => {
  const { clock, left, done, mending } = scene();
  mending.start();
  await clock.advance(1400);
  expect(done).toEqual([]);
  await clock.advance(60_000);
  expect(left).toEqual({ b: 0, c: 0 });
  expect(done).toEqual([2]);
});

it('waits for a member that does not answer, until it counts as absent', async () => {
  const absent = new Set<string>();
  const { clock, done, silent, mending } = scene({ absent: (name) => absent.has(name) });
  silent.add('c');
  mending.start();
  await clock.advance(20_000);
  expect(done).toEqual([]);
  absent.add('c');
  await clock.advance(1000);
  expect(done).toEqual([1]);
});

it('is not done before a member has answered', async () => {
  const { clock, done, silent, mending } = scene({ absent: () => true });
  silent.add('b').add('c');
  mending.start();
  await clock.advance(600_000);
  expect(done).toEqual([]);
  silent.clear();
  await clock.advance(5000);
  expect(done.length).toBe(1);
});

it('is not done while a record is in doubt', async () => {
  let doubtful = 3;
  const { clock, done, mending } = scene({ doubtfulCount: () => doubtful });
  mending.start();
  await clock.advance(10_000);
  expect(done).toEqual([]);
  doubtful = 0;
  await clock.advance(1000);
  expect(done).toEqual([2]);
});

it('alone there is no member to ask, but others may yet come back', async () => {
  const names: string[] = [];
  const { clock, done, mending } = scene({ others: () => names });
  mending.start();
  await clock.advance(50_000);
  expect(done).toEqual([]);
  await clock.advance(15_000);
  expect(done).toEqual([0]);
  const second = scene({ others: () => names });
  second.mending.start();
  await second.clock.advance(2000);
  names.push('c');
  await second.clock.advance(2000);
  expect(second.done).toEqual([1]);
});
