/**
 * P4: "A timer set for n pops by 2n while any replica of it is alive." Here timers change hands while their pops are
 * due.
 */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';
import { viewMember } from '../src/world/views.ts';
import { givenAwayWhileDue } from './told/given-away-while-due.ts';
import { handedToAStarter } from './told/handed-to-a-starter.ts';

/** Found by seed 866905179. */
test.each([8.4, 8.7, 8.95])(
  'a stand-in gives a timer back while its pop is due, and the replicas stand still: it keeps its copy, and pops by 2n (R=2, n=3 s, %d s)',
  async (standsS) => {
    expect(await givenAwayWhileDue(standsS)).toBeLessThanOrEqual(12);
  },
);

/** Found by seed 1302110217. */
test.each([200, 720, 760, 765, 800])(
  'a replica that has just started, and waits for news, is handed timers whose pops are due: they come by 2n (R=1, n=250 ms, %d ms)',
  async (startMs) => {
    expect(await handedToAStarter(startMs)).toBeLessThanOrEqual(0);
  },
);

const four = ['m0', 'm1', 'm2', 'm3'];

/**
 * Found by seed 1662036813: the second replica claims late and gets no processor again. The third asks when that claim
 * is over, waits for answers, and has to ask anew when the first replica is gone from the view.
 */
test.each([5.895, 5.92, 5.95, 5.97])(
  'a timer has another list of replicas while the last one that is awake asks, just before 2n: it pops by 2n (R=3, n=3 s, %d s)',
  async (goneS) => {
    const story = await Story.begin({ members: four });
    const { id, replicas } = await story.set({ seconds: 3, factor: 3 });
    const setMs = story.cluster.world.nowMs;
    const [first, second] = replicas.map((name) => story.cluster.member(name));
    await story.until(2.9);
    first?.pause();
    await story.until(3.95);
    second?.stall(900);
    // Its claim is on the way, and holds until 5.87 s.
    await story.until(4.86);
    second?.stall(1600);
    await story.until(goneS);
    const left = four.filter((name) => name !== first?.name);
    story.cluster.views.change(left.map((name) => viewMember(name)));
    await story.until(30);
    const [call] = story.calls(id);
    expect((call?.startMs ?? Number.POSITIVE_INFINITY) - setMs).toBeLessThanOrEqual(6000);
    expect(story.bugs).toEqual([]);
  },
);
