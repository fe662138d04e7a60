/**
 * P8: "Adding, draining or losing members loses no timer, repairs the number of copies by itself, and moves no more
 * timers than it must."
 */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';
import { viewMember } from '../src/world/views.ts';
import { expectPlaced } from './told/placed.contract.ts';

const timerCount = 60;

async function manyTimers(story: Story, seconds = 100): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < timerCount; i++) ids.push((await story.set({ seconds, times: 4 })).id);
  return ids;
}

function change(story: Story, names: readonly string[]): void {
  story.cluster.views.change(names.map((name) => viewMember(name)));
}

async function join(story: Story, name: string, names: readonly string[]): Promise<void> {
  story.cluster.add(name).start();
  await story.pass(0.5);
  change(story, names);
}

/** "Exactly the expected pops, none twice." */
function expectOnce(story: Story, ids: readonly string[]): void {
  for (const id of ids) {
    expect(
      story.pops(id).map(({ sequence }) => sequence),
      id,
    ).toEqual([1, 2, 3, 4]);
  }
  expect(story.bugs).toEqual([]);
}

test('scale up: a fourth member takes its share, and only that moves (R=2)', async () => {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
  const ids = await manyTimers(story);
  const before = new Map(ids.map((id) => [id, story.holders(id)]));
  await join(story, 'm3', ['m0', 'm1', 'm2', 'm3']);
  await story.pass(10);
  expectPlaced(story, ids, ['m0', 'm1', 'm2', 'm3']);
  // A timer moved onto the new member only.
  for (const id of ids) {
    const added = story.holders(id).filter((name) => before.get(id)?.includes(name) !== true);
    expect(added.every((name) => name === 'm3')).toBe(true);
  }
  await story.until(420);
  expectOnce(story, ids);
});

test.each([0, 1000, 4000])(
  'scale up while timers pop; members learn of it at different times (R=2, up to %d ms apart)',
  async (delayMs) => {
    const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
    story.cluster.views.delayMs = delayMs;
    const ids = await manyTimers(story, 1);
    await join(story, 'm3', ['m0', 'm1', 'm2', 'm3']);
    await story.pass(20);
    expectOnce(story, ids);
  },
);

test('scale up while a callback is under way: the claim outlives the new view (R=2, slow receiver)', async () => {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
  story.cluster.views.delayMs = 200;
  const ids = await manyTimers(story, 10);
  story.cluster.receivers.behave('r0', { does: 'answer', status: 200, afterMs: 4500 });
  await story.until(11);
  await join(story, 'm3', ['m0', 'm1', 'm2', 'm3']);
  await story.until(60);
  expectOnce(story, ids);
});

test('scale down: a member drains, loses nothing and ends empty (R=2)', async () => {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
  const ids = await manyTimers(story);
  const leaving = story.cluster.member('m1');
  const store = leaving.member?.store;
  const left = leaving.drain();
  await story.pass(10);
  expect(await left).toBe(true);
  expect(store?.counts).toMatchObject({ live: 0, dead: 0 });
  change(story, ['m0', 'm2']);
  await story.pass(10);
  expectPlaced(story, ids, ['m0', 'm2']);
  await story.until(420);
  expectOnce(story, ids);
});

test('scale up, then down again before the first is over (R=2)', async () => {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
  story.cluster.views.delayMs = 300;
  const ids = await manyTimers(story);
  await join(story, 'm3', ['m0', 'm1', 'm2', 'm3']);
  await story.pass(0.1);
  const left = story.cluster.member('m3').drain();
  await story.pass(10);
  expect(await left).toBe(true);
  change(story, ['m0', 'm1', 'm2']);
  await story.pass(10);
  expectPlaced(story, ids, ['m0', 'm1', 'm2']);
  await story.until(420);
  expectOnce(story, ids);
});

test('scale up and kill: the new member dies while timers move to it, and stays dead (R=2, etcd)', async () => {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'], etcd: true });
  await story.pass(5);
  const ids = await manyTimers(story);
  story.cluster.add('m3').start();
  await story.pass(0.06);
  story.cluster.member('m3').crash({ power: true, wipe: true });
  await story.pass(60);
  expectPlaced(story, ids, ['m0', 'm1', 'm2']);
  await story.until(450);
  expectOnce(story, ids);
});

test('a member is lost for good: its timers have all their copies again within 30 s (R=2, etcd)', async () => {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'], etcd: true });
  await story.pass(5);
  const ids = await manyTimers(story);
  story.cluster.member('m1').crash({ power: true, wipe: true });
  await story.pass(30);
  expectPlaced(story, ids, ['m0', 'm2']);
  await story.until(450);
  expectOnce(story, ids);
});
