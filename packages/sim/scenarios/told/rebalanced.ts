/**
 * The rebalancing example of the technical introduction that Carillon comes from, up to the update: a story for two
 * tests.
 */
import { View } from '@carillon/server/internal';
import { withoutRepair } from '../../src/broken/without-repair.ts';
import { Story, type StoryTimer } from '../../src/story.ts';
import { viewMember } from '../../src/world/views.ts';

const four = ['m0', 'm1', 'm2', 'm3'].map((name) => viewMember(name));

/**
 * m0, m1 and m2 hold a timer, m3 is added, the timer is updated. Nothing but the update moves copies: resync is off.
 */
export function rebalanced() {
  return withoutRepair(tell);
}

async function tell() {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
  const view = new View({ source: 'test', revision: 1, members: four });
  const { timer: before, wanted } = await timerFor(story, view);
  story.cluster.add('m3').start();
  await story.pass(1);
  story.cluster.views.change(four);
  const updated = await story.replace(before.id, { seconds: 300, factor: 3 }, 'm3');
  await story.pass(1);
  return { story, before, updated, wanted };
}

/** A timer that the fourth member will hold. */
async function timerFor(
  story: Story,
  view: View,
): Promise<{ timer: StoryTimer; wanted: readonly string[] }> {
  for (;;) {
    const timer = await story.set({ seconds: 600, factor: 3 });
    const hi = Number.parseInt(timer.id.slice(0, 8), 16);
    const lo = Number.parseInt(timer.id.slice(8, 16), 16);
    const wanted = view.place(hi, lo, 3);
    if (wanted.includes('m3')) return { timer, wanted };
  }
}
