/** P4 and P5 on a slow machine: "A member that gets no processor for a second must come late, not twice." */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';

const three = ['m0', 'm1', 'm2'];

test.each([300, 400, 480])(
  'a member that claims %d ms late and then gets no processor keeps nobody from the pop: made by 2n (R=2, n=1 s)',
  async (lateMs) => {
    const story = await Story.begin({ members: three });
    const { id, replicas } = await story.set({ seconds: 1 });
    const setMs = story.cluster.world.nowMs;
    const first = story.cluster.member(replicas[0] ?? '');
    await story.until(0.95);
    first.stall(50 + lateMs);
    // Its claim is on the way, the answer is not back.
    await story.until(1 + (lateMs + 0.5) / 1000);
    first.stall(1000);
    await story.until(10);
    const [call] = story.calls(id);
    expect(call?.by).toBe(replicas[1]);
    expect((call?.startMs ?? Number.POSITIVE_INFINITY) - setMs).toBeLessThanOrEqual(2000);
    expect(story.bugs).toEqual([]);
  },
);
