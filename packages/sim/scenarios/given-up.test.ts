/**
 * P4 and P5 while a member restarts: a member that claimed a pop and is then no longer due to make it does not block
 * the others.
 */
import { expect, test } from 'vitest';
import { doubledGiveBack } from '../src/broken/doubled.ts';
import { Story } from '../src/story.ts';
import { viewMember } from '../src/world/views.ts';

/** Enough members that two of them need not ask each other. */
const six = ['m0', 'm1', 'm2', 'm3', 'm4', 'm5'];
const seconds = 2;
/** A claim is granted one way and back later: time enough for another view in between. */
const wayMs = 25;

function change(story: Story, names: readonly string[]): void {
  story.cluster.views.change(names.map((name) => viewMember(name)));
}

/** Crashes the first replica and, just before the turn of the second, puts another member in its place for `forMs`. */
async function replaceBriefly(story: Story, first: string, forMs: number): Promise<void> {
  await story.pass(seconds / 2);
  story.cluster.member(first).crash({ power: false, wipe: false });
  await story.pass(seconds - 0.1);
  change(
    story,
    six.filter((name) => name !== first),
  );
  await story.pass(forMs / 1000);
  change(story, six);
}

/** From before its claim until after its call. */
const times = Array.from({ length: 8 }, (_, i) => i * 15);

test.each(
  times.flatMap((forMs) => [
    { forMs, answerMs: 1, back: true },
    { forMs, answerMs: 3000, back: true },
    // The first replica stays down: only the member that granted the claim knows of it, and it must not call a second
    // time.
    { forMs, answerMs: 3000, back: false },
  ]),
)(
  'a successor whose time is over before it calls gives the pop back: made once, and by 2n (R=2): %j',
  async ({ forMs, answerMs, back }) => {
    const story = await Story.begin({ members: six });
    const { cluster } = story;
    cluster.cables.delayMs = wayMs;
    cluster.receivers.behave('r0', { does: 'answer', status: 200, afterMs: answerMs });
    const { id, replicas } = await story.set({ seconds });
    const [first = ''] = replicas;
    const setMs = cluster.world.nowMs;
    await replaceBriefly(story, first, forMs);
    if (back) cluster.member(first).start();
    await story.pass(10);
    const calls = story.calls(id);
    expect(calls.map(({ sequence }) => sequence)).toEqual([1]);
    expect((calls[0]?.startMs ?? 0) - setMs).toBeLessThanOrEqual(2 * seconds * 1000);
    expect(story.bugs).toEqual([]);
  },
);

test.each([3000, 3200, 3500, 3800])(
  'a give-back that the network doubles, %d ms late, does not end the claim that came after it: the pop is made once (R=3)',
  async (lateMs) => {
    const { callers, first } = await doubledGiveBack(lateMs);
    expect(callers).toEqual([first]);
  },
);
