/** The examples of the technical introduction that Carillon comes from, to the second. */
import { expect, test } from 'vitest';
import { variants } from '../src/broken/variants.ts';
import { withoutRepair } from '../src/broken/without-repair.ts';
import { rebalanced } from './told/rebalanced.ts';
import { Story } from '../src/story.ts';

async function runThrough() {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
  const { id, replicas } = await story.set({ seconds: 20, times: 6, factor: 3 });
  const [a = '', b = '', c = ''] = replicas;
  const letter = new Map([
    [a, 'A'],
    [b, 'B'],
    [c, 'C'],
  ]);
  await story.until(21);
  // "At this point, replica A fails catastrophically."
  story.cluster.member(a).crash({ power: true, wipe: true });
  await story.until(45);
  // "At this point, a net-split occurs between B and C."
  const mend = story.part(b, c);
  await story.until(70);
  // "Now, the net-split heals and B and C can see each other."
  mend();
  await story.until(90);
  // "Now, node A recovers, but has lost all the database entries for the timer."
  story.cluster.member(a).start();
  await story.until(140);
  const pops = story
    .pops(id)
    .map(({ at, by, sequence }) => [Math.round(at), letter.get(by), sequence]);
  return { story, id, pops };
}

test('run-through: 20 s, six pops, A dies, B and C are split, A returns empty (R=3, repair off)', async () => {
  const { story, id, pops } = await withoutRepair(runThrough);
  expect(pops).toEqual([
    [20, 'A', 1],
    [42, 'B', 2],
    [62, 'B', 3],
    // "Note this is a duplicate of the timer B just popped."
    [64, 'C', 3],
    [82, 'B', 4],
    [102, 'B', 5],
    // "Finally, at time 120, A pops the callback, determines this is the final pop."
    [120, 'A', 6],
  ]);
  expect(story.holders(id)).toEqual([]);
  expect(story.bugs).toEqual([]);
});

test('run-through: the same with repair: A gets its record back and pops at 100 itself (R=3, repair on)', async () => {
  const { story, id, pops } = await runThrough();
  expect(pops).toEqual([
    [20, 'A', 1],
    [42, 'B', 2],
    [62, 'B', 3],
    [64, 'C', 3],
    [82, 'B', 4],
    [100, 'A', 5],
    [120, 'A', 6],
  ]);
  expect(story.holders(id)).toEqual([]);
  expect(story.bugs).toEqual([]);
});

test('rebalancing: a fourth member is added and the timer updated; A lets go, D takes over (A, B, C + D, resync off)', async () => {
  const { story, before, updated, wanted } = await rebalanced();
  // "The receiving node re-hashes the ID and decides that the new set of replica nodes should be B, C and D."
  expect(updated.replicas).toEqual(wanted);
  // "Node A is not included as a replica so it deletes its local record. Node D creates a record for it."
  expect(story.holders(before.id).toSorted()).toEqual(wanted.toSorted());
  expect(updated.id.slice(0, 16)).toBe(before.id.slice(0, 16));
  expect(updated.id).not.toBe(before.id);
  await story.pass(700);
  expect(story.pops(before.id).map(({ by, sequence }) => [by, sequence])).toEqual([[wanted[0], 1]]);
  expect(story.bugs).toEqual([]);
});

test('rebalancing: without the filter in the id A never hears of the update and keeps its record (resync off)', async () => {
  const mend = variants.find(({ name }) => name === 'the filter in an id names no member')?.apply();
  const { story, before } = await rebalanced();
  mend?.();
  expect(story.holders(before.id)).toEqual(['m0', 'm1', 'm2', 'm3']);
});
