/**
 * P2 and P6 across a net-split: "A net-split that heals brings back neither a cancelled timer nor an older version."
 * The two sides of a split have nothing but versions to order changes by, and versions follow wall clocks.
 * Found by seed 900367.
 */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';
import { shrunkSplit } from './told/one-clock.ts';

const three = ['m0', 'm1', 'm2'];

/** Bodies of a timer's callbacks, in order. */
function bodies(story: Story, id: string): string[] {
  return story.calls(id).map(({ body }) => body);
}

test('replace: the clock of the other side was set back just before the split; the replace wins (R=1)', async () => {
  const story = await Story.begin({ members: ['m0', 'm1'] });
  await story.pass(60);
  story.cluster.member('m1').clock.wallOffsetMs = -3700;
  const mend = story.part('m0', 'm1');
  await story.pass(1);
  const { id } = await story.set({ seconds: 60, times: 3, factor: 1, opaque: 'old' }, 'm0');
  await story.pass(2);
  await story.replace(id, { seconds: 60, times: 3, factor: 1, opaque: 'new' }, 'm1');
  await story.pass(5);
  mend();
  await story.pass(240);
  expect(bodies(story, id)).toEqual(['new', 'new', 'new']);
});

test('replace: one direction is cut and the clock behind it is slow; the replace wins (R=1)', async () => {
  const story = await Story.begin({ members: three });
  await story.pass(60);
  const mends = [story.cluster.cables.cut('m2', 'm0')];
  await story.pass(24);
  story.cluster.member('m2').clock.wallOffsetMs = -2576;
  await story.pass(9);
  // With one replica, and that is m0, so that m2 has no way to learn of the first version.
  let id = '';
  for (let replica = ''; replica !== 'm0'; ) {
    const timer = await story.set({ seconds: 60, times: 3, factor: 1, opaque: 'old' }, 'm0');
    ({ id } = timer);
    replica = timer.replicas[0] ?? '';
  }
  await story.replace(id, { seconds: 60, times: 3, factor: 1, opaque: 'new' }, 'm2');
  await story.pass(5);
  for (const mend of mends) mend();
  await story.pass(240);
  expect(bodies(story, id)).toEqual(['new', 'new', 'new']);
});

test('cancel: the clock of the other side was set back just before the split; the timer stays cancelled (R=2)', async () => {
  const story = await Story.begin({ members: ['m0', 'm1'] });
  await story.pass(60);
  story.cluster.member('m1').clock.wallOffsetMs = -3700;
  const mend = story.part('m0', 'm1');
  await story.pass(1);
  const { id } = await story.set({ seconds: 60 }, 'm0');
  expect((await story.cancel(id, 'm1')).status).toBe(200);
  mend();
  await story.pass(150);
  expect(story.calls(id)).toEqual([]);
  expect(story.holders(id)).toEqual([]);
});

test('the sides of a split go by one clock, also when the view of one of them has shrunk (R=3)', async () => {
  const { bodies: made } = await shrunkSplit();
  expect(new Set(made)).toEqual(new Set(['later']));
});
