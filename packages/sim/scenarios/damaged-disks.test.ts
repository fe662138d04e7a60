/**
 * Damage on disk: nothing is lost that another member has, and a member that lost records does not testify about them.
 */
import { expect, test } from 'vitest';
import { Story, type StoryTimer } from '../src/story.ts';
import { lastCopyAway, zeroEntries } from './told/damaged-disks.ts';

const three = ['m0', 'm1', 'm2'];

async function damageOf(story: Story, member: string): Promise<Record<string, unknown> | null> {
  const { body } = await story.ask('GET', '/cluster', member);
  return (JSON.parse(body) as { damage: Record<string, unknown> | null }).damage;
}

async function setMany(story: Story, count: number, seconds: number): Promise<StoryTimer[]> {
  const timers: StoryTimer[] = [];
  for (let i = 0; i < count; i++) timers.push(await story.set({ seconds, factor: 2 }));
  return timers;
}

test('a member that lost everything to damage does not testify: the last copy, with a member that was away, pops', async () => {
  const { story, id } = await lastCopyAway();
  await story.until(3 * 3600 + 60);
  expect(story.pops(id).map(({ sequence }) => sequence)).toEqual([1]);
  expect(story.bugs).toEqual([]);
});

test('a cancel that was lost to damage, and that all members have forgotten, does not bring its timer back', async () => {
  const config = new Map([['scrubIntervalMs', 86_400_000]]);
  const story = await Story.begin({ members: ['m0', 'm1'], config });
  const { id } = await story.set({ seconds: 3 * 3600, factor: 2 });
  const member = story.cluster.member('m1');
  const journal = 'journal-0000000001.log';
  const size = (): number => member.storage?.look().find(({ name }) => name === journal)?.size ?? 0;
  await story.until(25 * 60);
  const from = size();
  await story.cancel(id);
  await story.until(90 * 60);
  member.storage?.zero(journal, from, size());
  // Marks that come later tell until when the member was there.
  await story.until(105 * 60 - 30);
  member.crash({ power: false, wipe: false });
  expect(story.record(id, 'm0')).toBeUndefined();
  member.start();
  await story.until(4 * 3600);
  expect(story.pops(id)).toEqual([]);
  expect(story.holders(id)).toEqual([]);
});

test.each([
  {
    factor: 1,
    says: 'with one copy the last pop is made once more, and the series goes on',
    again: [3],
  },
  { factor: 2, says: 'with two the replica tells of it, and no pop is made again', again: [] },
])('the word of three pops is lost to damage: $says (R=$factor)', async ({ factor, again }) => {
  const story = await Story.begin({ members: ['m0', 'm1'] });
  const { id, replicas } = await story.set({ seconds: 20, times: 5, factor });
  const member = story.cluster.member(replicas[0] ?? '');
  await story.until(65);
  void member.stop();
  await story.until(66);
  // The timer as it was set is in the segment before.
  const journal = 'journal-0000000002.log';
  const size = member.storage?.look().find(({ name }) => name === journal)?.size ?? 0;
  member.storage?.zero(journal, 64, size);
  member.start();
  await story.until(200);
  const sequences = story.pops(id).map(({ sequence }) => sequence);
  expect(sequences).toEqual([1, 2, 3, ...again, 4, 5]);
  expect(new Set(story.calls(id).map(({ popId }) => popId)).size).toBe(5);
  expect(story.bugs).toEqual([]);
});

test('entries damaged while a member was down are fetched at once, and every timer pops once (R=2)', async () => {
  const story = await Story.begin({ members: three });
  const timers = await setMany(story, 60, 300);
  const damaged = story.cluster.member('m1');
  await story.until(20);
  damaged.crash({ power: true, wipe: false });
  zeroEntries(story, 'm1');
  damaged.start();
  await story.until(25);
  for (const { id, replicas } of timers) {
    expect(new Set(story.holders(id))).toEqual(new Set(replicas));
  }
  const held = timers.filter(({ replicas }) => replicas.includes('m1')).length;
  expect(await damageOf(story, 'm1')).toMatchObject({
    state: 'mending',
    'entries-lost': held,
    'timers-lost': 0,
    'more-lost': false,
    'records-fetched': held,
  });
  await story.until(40);
  expect(await damageOf(story, 'm1')).toMatchObject({ state: 'mended' });
  expect(damaged.intact).toBe(true);
  await story.until(600);
  for (const { id } of timers) expect(story.pops(id).length).toBe(1);
  expect(story.bugs).toEqual([]);
});

test('a second crash before everything was fetched finds the damage again', async () => {
  const story = await Story.begin({ members: three });
  const timers = await setMany(story, 30, 300);
  const damaged = story.cluster.member('m1');
  damaged.crash({ power: true, wipe: false });
  zeroEntries(story, 'm1');
  const mends = [story.part('m1', 'm0'), story.part('m1', 'm2')];
  for (let i = 0; i < 3; i++) {
    damaged.start();
    await story.pass(8);
    expect(await damageOf(story, 'm1')).toMatchObject({ state: 'mending' });
    damaged.crash({ power: true, wipe: false });
  }
  for (const mend of mends) mend();
  damaged.start();
  await story.pass(20);
  expect(await damageOf(story, 'm1')).toMatchObject({ state: 'mended' });
  for (const { id, replicas } of timers) {
    expect(new Set(story.holders(id))).toEqual(new Set(replicas));
  }
});

test('damage found while a member runs is written anew from memory: nothing is lost by the next crash', async () => {
  const story = await Story.begin({ members: ['m0'] });
  const { id } = await story.set({ seconds: 300, factor: 1 });
  const member = story.cluster.member('m0');
  await story.until(10);
  zeroEntries(story, 'm0');
  await story.until(50);
  expect(await damageOf(story, 'm0')).toMatchObject({ state: 'mended', 'entries-lost': 0 });
  member.crash({ power: true, wipe: false });
  member.start();
  await story.until(310);
  expect(story.pops(id).length).toBe(1);
});

test('a segment that is gone while it is written to is noticed, and replaced', async () => {
  const story = await Story.begin({ members: ['m0'] });
  const member = story.cluster.member('m0');
  for (const { name } of member.storage?.look() ?? []) {
    if (name.startsWith('journal-')) member.storage?.lose(name);
  }
  const { id } = await story.set({ seconds: 300, factor: 1 });
  await story.until(50);
  member.crash({ power: true, wipe: false });
  member.start();
  await story.until(310);
  expect(story.pops(id).length).toBe(1);
  expect(story.bugs).toEqual([]);
});

test('timers with one copy that damage took are counted and said to be lost, in a cluster too (R=1 and R=2)', async () => {
  const story = await Story.begin({ members: three });
  const single = [];
  for (let i = 0; i < 30; i++) single.push(await story.set({ seconds: 300, factor: 1 }));
  const twofold = await setMany(story, 30, 300);
  const damaged = story.cluster.member('m1');
  await story.until(20);
  const gone = single.filter(({ id }) => story.holders(id).includes('m1'));
  expect(gone.length).toBeGreaterThan(3);
  damaged.crash({ power: true, wipe: false });
  zeroEntries(story, 'm1');
  damaged.start();
  await story.until(90);
  expect(await damageOf(story, 'm1')).toMatchObject({ state: 'lost', 'timers-lost': gone.length });
  const { body } = await story.ask('GET', '/metrics', 'm1');
  expect(body).toContain(`carillon_lost_timers ${gone.length}`);
  await story.until(600);
  for (const { id } of twofold) expect(story.pops(id).length).toBe(1);
  const popped = single.filter(({ id }) => story.pops(id).length === 1);
  expect(popped.length).toBe(single.length - gone.length);
});

test('alone, a member starts with the records it can read, and says how many are lost', async () => {
  const story = await Story.begin({ members: ['m0'] });
  await setMany(story, 5, 300);
  const member = story.cluster.member('m0');
  await story.until(20);
  member.crash({ power: true, wipe: false });
  zeroEntries(story, 'm0');
  member.start();
  await story.pass(10);
  expect(await damageOf(story, 'm0')).toMatchObject({ state: 'mending' });
  await story.pass(60);
  expect(await damageOf(story, 'm0')).toMatchObject({
    state: 'lost',
    'entries-lost': 5,
    'timers-lost': 5,
    'more-lost': false,
    'records-fetched': 0,
  });
  const { body } = await story.ask('GET', '/metrics', 'm0');
  expect(body).toContain('carillon_journal_lost_entries 5');
  const { id } = await story.set({ seconds: 20, factor: 1 });
  await story.pass(30);
  expect(story.pops(id).length).toBe(1);
});
