import { describe, expect, test } from 'vitest';
import { type Due, Watch, type WatchFacts } from './watch.ts';

const calm: WatchFacts = {
  member: 'a',
  failing: [],
  well: [],
  boxes: [],
  underReplicated: 0,
  damage: null,
  disk: null,
};
const shop = { namespace: 'default', receiver: 'http://shop.test' };
const failing = (sinceMs: number, count = 10) => [{ ...shop, failure: '5xx', count, sinceMs }];
const kinds = (due: readonly Due[]) => due.map(({ condition }) => condition.kind);

/** Looks, and takes every condition for told. */
function told(watch: Watch, facts: Partial<WatchFacts>, nowMs: number): string[] {
  const due = watch.look({ ...calm, ...facts }, nowMs);
  for (const one of due) one.told(true);
  return kinds(due);
}

describe('a destination', () => {
  test('that has failed for less than half a minute, or fewer than five times, is not told of', () => {
    const watch = new Watch();
    expect(told(watch, { failing: failing(0) }, 29_999)).toEqual([]);
    expect(told(watch, { failing: failing(0, 4) }, 60_000)).toEqual([]);
    expect(told(watch, { failing: failing(0) }, 30_000)).toEqual(['destination-failing']);
  });

  test('that goes on failing is told of again each hour', () => {
    const watch = new Watch();
    told(watch, { failing: failing(0) }, 30_000);
    expect(told(watch, { failing: failing(0) }, 3_600_000)).toEqual([]);
    expect(told(watch, { failing: failing(0) }, 3_630_000)).toEqual(['destination-failing']);
  });

  test('is told to be well again after a success, and only if it was told of', () => {
    const watch = new Watch();
    told(watch, { failing: failing(0) }, 10_000);
    expect(told(watch, { well: [shop] }, 40_000)).toEqual([]);
    told(watch, { failing: failing(50_000) }, 90_000);
    expect(told(watch, { well: [shop] }, 95_000)).toEqual(['destination-well']);
    expect(told(watch, {}, 100_000)).toEqual([]);
  });

  test('that is merely not called any more is not told to be well', () => {
    const watch = new Watch();
    told(watch, { failing: failing(0) }, 30_000);
    expect(told(watch, {}, 40_000)).toEqual([]);
  });

  test('is told of again later where the event was not taken, and not twice at once', () => {
    const watch = new Watch();
    const facts = { ...calm, failing: failing(0) };
    const [first] = watch.look(facts, 30_000);
    expect(watch.look(facts, 35_000)).toEqual([]);
    first?.told(false);
    const again = watch.look(facts, 40_000);
    expect(kinds(again)).toEqual(['destination-failing']);
  });

  test('that fails again before it was told to be well needs no word', () => {
    const watch = new Watch();
    told(watch, { failing: failing(0) }, 30_000);
    const [well] = watch.look({ ...calm, well: [shop] }, 40_000);
    well?.told(false);
    expect(told(watch, { failing: failing(45_000) }, 90_000)).toEqual([]);
  });
});

test('a letter box is told of at four fifths, and again only after it was clearly emptier', () => {
  const watch = new Watch();
  const box = (letters: number) => ({ boxes: [{ namespace: 'x', letters, countMax: 100 }] });
  expect(told(watch, box(79), 0)).toEqual([]);
  expect(told(watch, box(80), 1)).toEqual(['letter-box-nearly-full']);
  expect(told(watch, box(75), 2)).toEqual([]);
  expect(told(watch, box(80), 3)).toEqual([]);
  expect(told(watch, box(69), 4)).toEqual([]);
  expect(told(watch, box(80), 5)).toEqual(['letter-box-nearly-full']);
});

test('copies that are missing are told of after a minute', () => {
  const watch = new Watch();
  expect(told(watch, { underReplicated: 3 }, 0)).toEqual([]);
  expect(told(watch, { underReplicated: 1 }, 59_999)).toEqual([]);
  expect(told(watch, { underReplicated: 2 }, 60_000)).toEqual(['copies-missing']);
  expect(told(watch, {}, 65_000)).toEqual([]);
  expect(told(watch, { underReplicated: 2 }, 70_000)).toEqual([]);
});

test('damage is told of once, and more of it once more', () => {
  const watch = new Watch();
  const damage = (stretches: number) => ({
    damage: {
      state: 'mended' as const,
      foundMs: 0,
      stretches,
      entriesLost: 0,
      moreLost: false,
      timersLost: 0,
      recordsFetched: 0,
    },
  });
  expect(told(watch, damage(1), 0)).toEqual(['damage-found']);
  expect(told(watch, damage(1), 86_400_000)).toEqual([]);
  expect(told(watch, damage(2), 86_400_001)).toEqual(['damage-found']);
});

test.each([
  ['a tenth of a small disk', 10, 0.99, 1.01],
  ['20 GiB of a large one', 1000, 19.9, 20.1],
])('a disk is nearly full below %s', (_, total, below, above) => {
  const GiB = 1024 ** 3;
  const disk = (free: number) => ({ disk: { freeBytes: free * GiB, totalBytes: total * GiB } });
  expect(told(new Watch(), disk(above), 0)).toEqual([]);
  expect(told(new Watch(), disk(below), 0)).toEqual(['disk-nearly-full']);
});
