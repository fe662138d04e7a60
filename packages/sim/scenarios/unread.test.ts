/**
 * P4: "Healthy cluster: within milliseconds of n." A member that has much to do reads a record some time after it was
 * sent. Its copy is due when the timer is, and not that much later.
 */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';

const three = ['m0', 'm1', 'm2'];

/** Sets timers while one member reads nothing for `unreadMs`; how late their pops come, and by which members. */
async function latePops(unreadMs: number) {
  const story = await Story.begin({ members: three });
  // The members say hello to each other, and so know how quick a frame can be.
  await story.pass(5);
  const busy = story.cluster.member('m0');
  busy.pause();
  const { world } = story.cluster;
  world.at(world.nowMs + unreadMs, () => busy.resume());
  story.zero();
  const timers = await Promise.all(
    Array.from({ length: 12 }, () => story.set({ seconds: 4 }, 'm1')),
  );
  await story.until(10);
  const pops = timers.flatMap(({ id }) => story.pops(id));
  expect(story.bugs).toEqual([]);
  return { all: pops.length, late: pops.map(({ at, by }) => ({ lateMs: (at - 4) * 1000, by })) };
}

test.each([60, 200])(
  'a replica that read of its timers %i ms late pops them on time (R=2, n=4 s)',
  async (unreadMs) => {
    const { all, late } = await latePops(unreadMs);
    expect(all).toBe(12);
    const here = late.filter(({ by }) => by === 'm0');
    expect(here.length).toBeGreaterThan(1);
    for (const { lateMs } of here) {
      expect(lateMs).toBeGreaterThanOrEqual(0);
      expect(lateMs).toBeLessThan(10);
    }
  },
);
