/** P4 and P5 while a member restarts: who claimed a pop, and is then no longer the one to make it, keeps nobody else from it. */
import { Peers } from '@carillon/server/internal';
import { afterEach, expect, test, vi } from 'vitest';
import { Story } from '../src/story.ts';
import { viewMember } from '../src/views.ts';

/** So many that two of them need not ask each other. */
const six = ['m0', 'm1', 'm2', 'm3', 'm4', 'm5'];
const seconds = 2;
/** A claim is granted one way and back later: time enough for another view in between. */
const wayMs = 25;

function change(story: Story, names: readonly string[]): void {
  story.cluster.views.change(names.map((name) => viewMember(name)));
}

/** Just before it is the second one's turn, somebody takes the place of the first, which is down, for so long. */
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
const times = Array.from({ length: 12 }, (_, i) => i * 10);

test.each(
  times.flatMap((forMs) => [
    { forMs, answerMs: 1, back: true },
    { forMs, answerMs: 3000, back: true },
    // Nobody but the one that granted the claim can keep itself from a second call.
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

/** The network brings every give-back a second time, so much later. */
function doubleGiveBacks(story: Story, lateMs: number): void {
  const { send } = Peers.prototype;
  vi.spyOn(Peers.prototype, 'send').mockImplementation(function (this: Peers, to, message, done) {
    if (message.type === 'claim' && message.termMs === 0) {
      story.cluster.world.after(lateMs, () => send.call(this, to, message, () => undefined));
    }
    return send.call(this, to, message, done);
  });
}

afterEach(() => void vi.restoreAllMocks());

const four = ['m0', 'm1', 'm2', 'm3'];

test.each([3000, 3200, 3500, 3800])(
  'a give-back that the network doubles, %d ms late, does not end the claim that came after it: the pop is made once (R=3)',
  async (lateMs) => {
    const story = await Story.begin({ members: four });
    const { cables, receivers } = story.cluster;
    cables.delayMs = wayMs;
    receivers.behave('r0', { does: 'answer', status: 200, afterMs: 4500 });
    const { id, replicas } = await story.set({ seconds: 20, factor: 3 });
    doubleGiveBacks(story, lateMs);
    const [first = '', , third = ''] = replicas;
    // The third cannot ask the first, which calls for long: only the second can tell.
    story.part(first, third);
    await story.pass(19.98);
    // While the first claims, the list of replicas changes: it gives back what it has and claims again.
    const withoutThird = four.filter((name) => name !== third);
    story.cluster.views.change(withoutThird.map((name) => viewMember(name)));
    await story.pass(0.01);
    story.cluster.views.change(four.map((name) => viewMember(name)));
    await story.pass(30);
    expect(story.pops(id).map(({ by, sequence }) => [by, sequence])).toEqual([[first, 1]]);
  },
);
