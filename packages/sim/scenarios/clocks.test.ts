/** P3: "No callback starts before its due time", however wall clocks jump. Spec: "Waiting uses the monotonic clock." */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';

test.each([-3_600_000, 3_600_000])(
  'the wall clock of every member is set by %d ms; timers do not notice (R=2)',
  async (byMs) => {
    const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
    const { id } = await story.set({ seconds: 20, times: 3 });
    await story.until(5);
    for (const { clock } of story.cluster.members.values()) clock.wallOffsetMs += byMs;
    await story.until(100);
    expect(story.pops(id).map(({ at, sequence }) => [at, sequence])).toEqual([
      [20, 1],
      [40, 2],
      [60, 3],
    ]);
  },
);

test('members whose wall clocks are minutes apart agree on when a timer is due (R=3)', async () => {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
  story.cluster.member('m1').clock.wallOffsetMs = 300_000;
  story.cluster.member('m2').clock.wallOffsetMs = -300_000;
  const { id, replicas } = await story.set({ seconds: 20, times: 2, factor: 3 }, 'm1');
  story.cluster.member(replicas[0] ?? '').crash({ power: true, wipe: false });
  await story.until(60);
  expect(story.pops(id).map(({ at, by }) => [at, by])).toEqual([
    [22, replicas[1]],
    [42, replicas[1]],
  ]);
});

// A version that is more than a second older than its record was read late, or is of a clock that is behind. The time
// of the pattern is right in both cases.
test.each([
  { aheadMs: -5000, firstS: 30 },
  { aheadMs: -700, firstS: 30.7 },
  { aheadMs: 700, firstS: 29.3 },
  { aheadMs: 5000, firstS: 25 },
])(
  'a cron timer pops once for each of its times, though wall clocks differ: the member that took it is $aheadMs ms ahead (R=1)',
  async ({ aheadMs, firstS }) => {
    const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
    const timing = { cron: '*/30 * * * * *', count: 4 };
    story.cluster.member('m0').clock.wallOffsetMs = aheadMs;
    const wish = { seconds: 30, timing, factor: 1 };
    let timer = await story.set(wish, 'm0');
    while (timer.replicas[0] === 'm0') timer = await story.set(wish, 'm0');
    const { id } = timer;
    await story.until(200);
    const pops = story.calls(id).map(({ startMs }) => startMs);
    expect(pops).toHaveLength(4);
    const [first = 0, ...rest] = pops.map((ms) => ms / 1000);
    expect(first).toBeCloseTo(firstS, 1);
    expect(rest.map((at) => Math.round(at * 10) / 10)).toEqual([60, 90, 120]);
  },
);

// Members say hello once a second. A clock that was set seemed right for up to 16 s, and a replica took every record of
// a cron timer that came meanwhile for one that had been on its way for as long as the clock was ahead.
test.each([
  { position: 0, byMs: 4000 },
  { position: 1, byMs: 4000 },
  { position: 1, byMs: 25_000 },
])(
  'the wall clock of a replica was set, and a cron timer is set 1.5 s later: no pop is early (R=2): %j',
  async ({ position, byMs }) => {
    const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
    const wish = { seconds: 30, timing: { cron: '*/30 * * * * *', count: 3 } };
    // The story began at 5 s of the world. The timers are set at 8 s, and due at its 30, 60 and 90 s.
    await story.until(1.5);
    story.cluster.member('m1').clock.wallOffsetMs += byMs;
    await story.until(3);
    let timer = await story.set(wish, 'm0');
    while (timer.replicas[position] !== 'm1') timer = await story.set(wish, 'm0');
    await story.until(120);
    expect(story.pops(timer.id).map(({ at }) => at)).toEqual([25, 55, 85]);
  },
);
