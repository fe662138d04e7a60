/**
 * P5, and docs/http-api.md: "the same key within 24 h returns the same timer, whichever member it reaches", also while
 * records are on their way from member to member.
 */
import { expect, test } from 'vitest';
import { Story, timerBody, type Wish } from '../src/story.ts';
import { viewMember } from '../src/world/views.ts';

interface Answered {
  readonly status: number;
  readonly id: string;
  readonly version: string;
}

/** Timers of one wish, each set under its own idempotency key, in one request. */
async function setAll(
  story: Story,
  keys: readonly string[],
  wish: Wish,
  via: string,
): Promise<readonly Answered[]> {
  const content = keys.map((key) => ({ change: 'set', key, timer: timerBody(wish) }));
  const answer = await story.request({ method: 'POST', path: '/timers/batch', content, via });
  return JSON.parse(answer.body) as readonly Answered[];
}

async function setOnce(story: Story, key: string, wish: Wish, via: string): Promise<Answered> {
  const [answered] = await setAll(story, [key], wish, via);
  if (answered === undefined) throw new Error('The batch has no answer.');
  return answered;
}

const keys = Array.from({ length: 12 }, (_, i) => `k${i}`);

test.each([1, 2])(
  'a set that is repeated under its key after a cancel gets the cancelled timer for as long as keys are remembered (R=%d)',
  async (factor) => {
    const config = new Map([
      ['tombstoneRetentionMs', 60_000],
      ['idempotencyRetentionMs', 600_000],
    ]);
    const story = await Story.begin({ members: ['m0', 'm1', 'm2'], config });
    const wish = { seconds: 100, factor };
    const first = await setOnce(story, 'k', wish, 'm0');
    await story.cancel(first.id, 'm1');
    await story.cancel(first.id, 'm2');
    for (const seconds of [0, 70, 500]) {
      await story.pass(seconds);
      expect(await setOnce(story, 'k', wish, 'm2')).toMatchObject({ status: 200, id: first.id });
      const other = await setOnce(story, 'k', { ...wish, opaque: 'other' }, 'm0');
      expect(other.status).toBe(422);
    }
    await story.pass(100);
    expect(story.pops(first.id)).toEqual([]);
    await setOnce(story, 'k', wish, 'm2');
    await story.pass(110);
    expect(story.pops(first.id)).toHaveLength(1);
  },
);

test.each([
  [1, 0],
  [1, 20],
  [2, 20],
  [2, 1000],
])(
  'two members become six: sets repeated under their keys through a newcomer make no timer anew (R=%d, the two hear of it %d ms later)',
  async (factor, laterMs) => {
    const story = await Story.begin({ members: ['m0', 'm1'] });
    const { cluster } = story;
    const wish = { seconds: 2, factor };
    const first = await setAll(story, keys, wish, 'm0');
    await story.pass(5);
    const joined = ['m2', 'm3', 'm4', 'm5'];
    for (const name of joined) cluster.add(name).start();
    await story.pass(0.5);
    const members = ['m0', 'm1', ...joined].map((name) => viewMember(name));
    cluster.views.change(members, { m0: laterMs, m1: laterMs });
    await story.pass(0.001);
    const again = await setAll(story, keys, wish, 'm3');
    await story.pass(10);
    expect(again.map(({ version }) => version)).toEqual(first.map(({ version }) => version));
    expect(first.map(({ id }) => story.pops(id).length)).toEqual(keys.map(() => 1));
  },
);

test.each([10, 50])(
  'a member drains: sets repeated under their keys %d ms later make no timer anew (R=1)',
  async (ms) => {
    const story = await Story.begin({ members: ['m0', 'm1', 'm2', 'm3'] });
    const wish = { seconds: 30, factor: 1 };
    const first = await setAll(story, keys, wish, 'm0');
    await story.pass(10);
    void story.cluster.member('m1').drain();
    await story.pass(ms / 1000);
    const again = await setAll(story, keys, wish, 'm2');
    expect(again.map(({ version }) => version)).toEqual(first.map(({ version }) => version));
    await story.pass(60);
    expect(first.map(({ id }) => story.pops(id).length)).toEqual(keys.map(() => 1));
  },
);
