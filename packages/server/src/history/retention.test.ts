import { describe, expect, it } from 'vitest';
import { type Kept, planRetention } from './retention.ts';

const MiB = 1024 * 1024;
const limits = { keepMs: 1000, bytesMax: 64 * MiB, budgetOf: () => Number.POSITIVE_INFINITY };

function kept(number: number, shares: Record<string, number>, more: Partial<Kept> = {}): Kept {
  const all = Object.entries(shares).map(
    ([name, mib]) =>
      [
        name,
        { bytes: mib * MiB, answerCount: 0, answersFromMs: Number.POSITIVE_INFINITY },
      ] as const,
  );
  const bytes = all.reduce((sum, [, share]) => sum + share.bytes, 0);
  return { number, bytes, lastMs: 10_000, shares: new Map(all), isOpen: false, ...more };
}

describe('retention of the history', () => {
  it('removes files whose newest entry is too old, but never the open one', () => {
    const files = [
      kept(1, {}, { lastMs: 8999 }),
      kept(2, {}),
      kept(3, {}, { lastMs: 0, isOpen: true }),
    ];
    expect(planRetention(files, limits, new Map(), 10_000).remove).toEqual([1]);
  });

  it('removes the oldest files until the rest fits', () => {
    const files = Array.from({ length: 10 }, (_, i) => kept(i + 1, { shop: 8 }));
    expect(planRetention(files, limits, new Map(), 10_000).remove).toEqual([1, 2]);
  });

  it('cuts a namespace off where its budget ends, and rewrites the oldest file that is worth it', () => {
    const files = [
      kept(3, { shop: 4, bank: 4 }),
      kept(4, { shop: 1, bank: 7 }),
      kept(8, { shop: 7 }),
      kept(9, { shop: 6 }),
      kept(10, { shop: 5 }, { isOpen: true }),
    ];
    const budgetOf = (name: string): number => (name === 'shop' ? 16 : 64) * MiB;
    const plan = planRetention(files, { ...limits, budgetOf }, new Map(), 10_000);
    expect(plan.remove).toEqual([]);
    expect(plan.cutOffs).toEqual(new Map([['shop', 8]]));
    expect(plan.rewrite).toBe(3);
    const later = planRetention(files.slice(1), { ...limits, budgetOf }, new Map(), 10_000);
    expect(later.rewrite).toBe(8);
  });

  it('does not cut off the newest file of a namespace, however little its budget is', () => {
    const files = [kept(1, { shop: 2 }), kept(2, { shop: 2 })];
    const plan = planRetention(files, { ...limits, budgetOf: () => 0 }, new Map(), 10_000);
    expect(plan.cutOffs).toEqual(new Map([['shop', 1]]));
  });

  it('rewrites files with erased answers, and says when there are none left', () => {
    const answers = new Map([['shop', { bytes: 9, answerCount: 1, answersFromMs: 500 }]]);
    const files = [kept(1, { shop: 1 }), kept(2, {}, { shares: answers })];
    const erased = new Map([['shop', 501]]);
    const plan = planRetention(files, limits, erased, 10_000);
    expect(plan).toMatchObject({ rewrite: 2, erased: [] });
    const after = planRetention(files.slice(0, 1), limits, erased, 10_000);
    expect(after).toMatchObject({ rewrite: null, erased: ['shop'] });
    const earlier = planRetention(files, limits, new Map([['shop', 500]]), 10_000);
    expect(earlier).toMatchObject({ rewrite: null, erased: ['shop'] });
  });
});
