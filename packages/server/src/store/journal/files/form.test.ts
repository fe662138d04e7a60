import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bytesOf, first } from '../../testing/journal-files.ts';
import { recordOf, World } from '../../testing/journal-world.ts';
import { forms } from './form.ts';

const mutable = forms as { before: number; newest: number };
const { before, newest } = forms;

/** As in the release after this one, with one form more. */
beforeEach(() => {
  mutable.before = newest;
  mutable.newest = newest + 1;
});
afterEach(() => {
  mutable.before = before;
  mutable.newest = newest;
});

async function formsOf({ disk }: World): Promise<Record<string, number>> {
  const files = (await disk.list()).filter(({ name }) => /\.(log|snap)$/.test(name));
  const found = files.map(async ({ name }) => [name, (await bytesOf(disk, name))[8] ?? 0] as const);
  return Object.fromEntries(await Promise.all(found));
}

describe('the form of a folder', () => {
  it('is the one of the release before, until all members read the newest', async () => {
    const world = new World();
    const journal = await world.open();
    journal.put(recordOf(1, 0));
    await world.commit(journal);
    expect(await formsOf(world)).toEqual({ [first]: newest });
    await world.until(journal.beginNewestForm());
    journal.put(recordOf(2, 0));
    await world.commit(journal);
    expect(await formsOf(world)).toEqual({ [first]: newest, 'journal-0000000002.log': newest + 1 });
    await world.until(journal.close());

    // A member that restarts goes on in the newest form, and does not begin it again.
    const again = await world.open();
    expect(world.sequences).toEqual({ 1: 0, 2: 0 });
    await world.until(again.beginNewestForm());
    expect((await formsOf(world))['journal-0000000003.log']).toBe(newest + 1);
    expect(Object.keys(await formsOf(world))).toHaveLength(3);
  });

  it('is told in the log when it changes, where the folder is not of this very start', async () => {
    const world = new World();
    const raised = (): object[] =>
      world.log.lines.map(({ fields }) => fields).filter(({ event }) => event === 'form-raised');
    const fresh = await world.open();
    fresh.put(recordOf(1, 0));
    await world.until(fresh.close());
    const journal = await world.open();
    await world.until(journal.beginNewestForm());
    expect(raised()).toMatchObject([{ form: newest + 1, segment: 3 }]);
    const other = new World();
    await other.until((await other.open()).beginNewestForm());
    expect(other.log.lines.map(({ fields }) => fields['event'])).not.toContain('form-raised');
  });

  it('is also that of snapshots', async () => {
    const world = new World();
    const journal = await world.open();
    journal.put(recordOf(1, 0));
    await world.commit(journal);
    await world.until(journal.beginNewestForm());
    await world.until(journal.snapshots.take(world.pull()));
    expect(new Set(Object.values(await formsOf(world)))).toEqual(new Set([newest + 1]));
  });

  it('once begun is refused by the release before, and no file changes', async () => {
    const world = new World();
    const journal = await world.open();
    journal.put(recordOf(1, 0));
    await world.until(journal.beginNewestForm());
    await world.until(journal.close());
    const files = await formsOf(world);
    mutable.newest = newest;
    await expect(world.open()).rejects.toThrow(
      `cannot be read. It has form ${newest + 1} and this release reads forms 1 to ${newest}`,
    );
    expect(await formsOf(world)).toEqual(files);
  });
});
