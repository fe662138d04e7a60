import { describe, expect, test } from 'vitest';
import { faultKinds, absences, Windows } from './windows.ts';

function withPause(): Windows {
  const windows = new Windows();
  windows.begin(['n1'], 'paused', 'stood still', 10_000)(12_000);
  return windows;
}

describe('windows', () => {
  test('touch a span that shares a single moment with them, at their member only', () => {
    const windows = withPause();
    const found = (fromMs: number, toMs: number, member?: string): number =>
      windows.touching(faultKinds, { fromMs, toMs }, member).length;
    expect([
      found(0, 9999),
      found(0, 10_000),
      found(12_000, 13_000),
      found(12_001, 13_000),
    ]).toEqual([0, 1, 1, 0]);
    expect([found(11_000, 11_000, 'n1'), found(11_000, 11_000, 'n0')]).toEqual([1, 0]);
  });

  test('that have begun and are not over reach to the end of time', () => {
    const windows = new Windows();
    const over = windows.begin(['n0', 'n1'], 'network', 'was cut off', 5000);
    const later = { fromMs: 90_000, toMs: 90_000 };
    expect(windows.touching(['network'], later).map(({ member }) => member)).toEqual(['n0', 'n1']);
    over(6000);
    expect(windows.touching(['network'], later)).toEqual([]);
  });

  test('a moment is quiet again three seconds after the last of them', () => {
    const windows = withPause();
    expect([9999, 10_000, 14_999, 15_001].map((atMs) => windows.isQuiet(atMs))).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });

  test('planned changes are not quiet, and are no fault', () => {
    const windows = new Windows();
    windows.begin(['n1'], 'planned', 'changed its secret', 1000)(2000);
    windows.begin(['n2'], 'stopped', 'was restarted', 5000)(6000);
    expect([1500, 5500].map((atMs) => windows.isQuiet(atMs))).toEqual([false, false]);
    expect(windows.touching(faultKinds, { fromMs: 0, toMs: 9000 })).toEqual([]);
  });

  test('a member that is killed, stands still, has no processor for more than a second or is stopped is absent; one that is cut off is not', () => {
    const windows = new Windows();
    const kinds = ['down', 'paused', 'starved', 'stopped', 'network', 'planned'] as const;
    for (const kind of kinds) windows.begin([kind], kind, kind, 1000)(2500);
    windows.starve('brief', 1000, 2000);
    expect([...windows.absentIn({ fromMs: 1500, toMs: 1600 })]).toEqual(kinds.slice(0, 4));
  });

  test('spans without a processor that touch are one window and are counted once, each member by itself', () => {
    const windows = new Windows();
    windows.starve('n0', 0, 250);
    windows.starve('n1', 100, 350);
    windows.starve('n0', 200, 500);
    windows.starve('n0', 750, 1000);
    expect(windows.all).toHaveLength(3);
    expect([windows.starvedMs('n0'), windows.starvedMs('n1')]).toEqual([750, 250]);
    expect(windows.touching(absences, { fromMs: 600, toMs: 700 })).toEqual([]);
  });

  test('the last of them before a moment is named, also while it lasts', () => {
    const windows = withPause();
    expect(windows.lastBefore(9000)).toBe('nothing had been wrong before');
    expect(windows.lastBefore(11_000)).toContain('n1 stood still from 10.0 s and it lasted');
    expect(windows.lastBefore(13_000)).toContain('n1 stood still from 10.0 s until 12.0 s');
  });
});
