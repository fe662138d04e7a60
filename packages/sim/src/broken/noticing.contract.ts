/**
 * How a broken variant is noticed: by a story that goes as it should only while the rule holds, or by seeds that break
 * a promise.
 */
import { expect, test } from 'vitest';
import { drawPlan, wholePlan } from '../plan.ts';
import { runPlan } from '../run.ts';
import type { Story } from '../story.ts';
import type { Broken } from './broken.ts';

/** A story, where it was not looked at by its teller, and whether a promise was kept in it. */
export type Tale = () => Promise<{ readonly story: Story | null; readonly kept: boolean }>;

/** The first seed that notices. Any change of the plans or of the members moves it, so a few more are tried. */
export interface Seeds {
  readonly first: number;
}

const moreSeeds = 40;

/** Whether some seed breaks a promise. An error of a member is none: a variant that throws proves nothing. */
async function seedsNotice({ first }: Seeds): Promise<boolean> {
  const more = Array.from({ length: moreSeeds }, (_, i) => i + 1);
  for (const seed of [first, ...more]) {
    const { violations } = await runPlan(drawPlan(seed, wholePlan));
    expect(violations.filter(({ promise }) => promise === 'bug')).toEqual([]);
    if (violations.length > 0) return true;
  }
  return false;
}

async function keeps(tale: Tale): Promise<boolean> {
  const { story, kept } = await tale();
  expect(story?.bugs ?? []).toEqual([]);
  return kept;
}

/** One test for each variant, and one for each story with nothing broken. */
export function everyVariantIsNoticed(
  variants: readonly Broken[],
  witnesses: Readonly<Record<string, Tale | Seeds>>,
): void {
  const names = variants.map(({ name }) => name);
  test('each variant has a witness, and each witness its variant', () => {
    expect(Object.keys(witnesses).toSorted()).toEqual(names.toSorted());
  });

  const tales = Object.entries(witnesses).flatMap(([name, witness]) =>
    typeof witness === 'function' ? [{ name, tale: witness }] : [],
  );
  test.each(tales)('$name: the promise is kept while nothing is broken', async ({ tale }) => {
    expect(await keeps(tale)).toBe(true);
  });

  test.each(variants)('$name: a promise is broken', { timeout: 300_000 }, async (variant) => {
    const witness = witnesses[variant.name];
    const mend = variant.apply();
    try {
      if (witness === undefined) expect.fail('no witness');
      else if (typeof witness === 'function') expect(await keeps(witness)).toBe(false);
      else expect(await seedsNotice(witness)).toBe(true);
    } finally {
      mend();
    }
  });
}
