/**
 * A story for a scenario and for a broken rule: the network brings every give-back of a claim a second time, late. P5:
 * the pop is made once all the same.
 */
import { Peers } from '@carillon/server/internal';
import { Story } from '../story.ts';
import { viewMember } from '../world/views.ts';
import { type Mend, replaces } from './broken.ts';

const four = ['m0', 'm1', 'm2', 'm3'];
/** A claim is granted one way and back later: time enough for another view in between. */
const wayMs = 25;

function doubleGiveBacks(story: Story, lateMs: number): Mend {
  const apply = replaces(Peers.prototype, 'send', ({ original, part }, to, message, done) => {
    if (message.type === 'claim' && message.termMs === 0) {
      story.cluster.world.after(lateMs, () => original.call(part, to, message, () => undefined));
    }
    original.call(part, to, message, done);
  });
  return apply();
}

/** Members that called back, in order, and the one that should have, alone. */
export async function doubledGiveBack(lateMs: number) {
  const story = await Story.begin({ members: four });
  story.cluster.cables.delayMs = wayMs;
  story.cluster.receivers.behave('r0', { does: 'answer', status: 200, afterMs: 4500 });
  const { id, replicas } = await story.set({ seconds: 20, factor: 3 });
  const [first = '', , third = ''] = replicas;
  const change = (names: readonly string[]): void =>
    story.cluster.views.change(names.map((name) => viewMember(name)));
  const mend = doubleGiveBacks(story, lateMs);
  try {
    // The third cannot ask the first, which calls for long: only the second can tell.
    story.part(first, third);
    await story.pass(19.94);
    // While the first replica claims, the list of replicas changes: it gives its claims back and claims again.
    change(four.filter((name) => name !== third));
    await story.pass(0.01);
    change(four);
    await story.pass(30);
  } finally {
    mend();
  }
  return { story, first, callers: story.pops(id).map(({ by }) => by) };
}
