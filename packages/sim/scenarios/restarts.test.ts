/**
 * P1 and spec §10: "Restart after kill -9 or power loss: every confirmed record is back." §8: "etcd away: everything
 * goes on with the last view."
 * Found by seed 573608288.
 */
import { expect, test } from 'vitest';
import { Story, timerBody } from '../src/story.ts';
import { unreached } from '../src/broken/unreached.ts';

const three = ['m0', 'm1', 'm2'];

test.each([true, false])(
  'restart: the whole cluster goes down at once and every timer is back (R=2, power cut: %s)',
  async (power) => {
    const story = await Story.begin({ members: three });
    const ids: string[] = [];
    for (let i = 0; i < 40; i++)
      ids.push((await story.set({ seconds: 60, times: 2 }, three[i % 3])).id);
    const lastAt = story.seconds;
    for (const name of three) story.cluster.member(name).crash({ power, wipe: false });
    await story.pass(20);
    for (const name of three) story.cluster.member(name).start();
    await story.until(200);
    for (const id of ids) {
      const pops = story.pops(id);
      expect(
        pops.map(({ sequence }) => sequence),
        id,
      ).toEqual([1, 2]);
      expect(pops[0]?.at).toBeGreaterThanOrEqual(60);
      expect(pops[0]?.at).toBeLessThan(60 + lastAt + 1);
    }
  },
);

test('restart: pops that fell due meanwhile go out at once, merged into one (R=2)', async () => {
  const story = await Story.begin({ members: three });
  const { id } = await story.set({ seconds: 10, times: 6 });
  await story.until(15);
  for (const name of three) story.cluster.member(name).crash({ power: true, wipe: false });
  await story.until(45);
  for (const name of three) story.cluster.member(name).start();
  await story.until(80);
  expect(story.calls(id).map(({ sequence, missed }) => [sequence, missed])).toEqual([
    [1, 0],
    [4, 2],
    [5, 0],
    [6, 0],
  ]);
});

test('restart: a timer is never early by the fraction of a millisecond that a wall clock lacks (R=1)', async () => {
  const story = await Story.begin({ members: ['m0'] });
  for (let i = 0; i < 8; i++) {
    const beganMs = story.cluster.world.nowMs;
    const { id } = await story.set({ seconds: 10, factor: 1 });
    await story.pass(1 + i * 0.0003);
    story.cluster.member('m0').crash({ power: false, wipe: false });
    await story.pass(0.0007);
    story.cluster.member('m0').start();
    await story.pass(12);
    const [call] = story.calls(id);
    expect((call?.startMs ?? 0) - beganMs).toBeGreaterThanOrEqual(10_000);
  }
});

test('set: a replica is down; the next in rank stands in, and the copies are all there (R=2)', async () => {
  const story = await Story.begin({ members: three });
  story.cluster.member('m1').crash({ power: true, wipe: false });
  await story.pass(0.1);
  for (let i = 0; i < 10; i++) {
    const { id, copies } = await story.set({ seconds: 5 }, 'm0');
    expect(copies).toBe('2/2');
    expect(story.holders(id)).toEqual(['m0', 'm2']);
  }
});

test('etcd away: timers are set, pop and are cancelled as before, and no view changes when it is back (R=2)', async () => {
  const story = await Story.begin({ members: three, etcd: true });
  await story.pass(5);
  const { etcd } = story;
  if (etcd === null) throw new Error('This story has an etcd.');
  etcd.away = true;
  await story.pass(30);
  const popping = await story.set({ seconds: 2, times: 20 }, 'm1');
  const cancelled = await story.set({ seconds: 60 }, 'm2');
  expect(popping.copies).toBe('2/2');
  await story.cancel(cancelled.id, 'm0');
  await story.pass(10);
  etcd.away = false;
  await story.pass(60);
  expect(story.pops(popping.id).map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 20 }, (_, i) => i + 1),
  );
  expect(story.pops(cancelled.id)).toEqual([]);
  expect(story.bugs).toEqual([]);
});

test.each(
  [0, 1, 2].flatMap((position) => [
    // The pop of 102 s falls due after the restart; that of 99 s before it, and the next one waits behind it.
    { position, downAt: 100, upAt: 101, sequence: 34, by: 105 },
    { position, downAt: 98, upAt: 100.9, sequence: 34, by: 105 },
  ]),
)(
  'restart with doubtful records, all others out of reach: the doubt ends in time for 2n (R=3): %j',
  async ({ position, downAt, upAt, ...expected }) => {
    // A member that may have been away for half this time asks about its records before it pops them.
    const story = await Story.begin({
      members: three,
      config: new Map([['tombstoneRetentionMs', 60_000]]),
    });
    const { cluster } = story;
    const { id, replicas } = await story.set({ seconds: 3, times: 60, factor: 3 });
    const last = replicas[position] ?? '';
    await story.until(downAt);
    for (const name of three) cluster.member(name).crash({ power: true, wipe: false });
    await story.until(upAt);
    cluster.member(last).start();
    await story.until(106);
    const pop = story
      .pops(id)
      .find(({ at, sequence }) => at > upAt && sequence >= expected.sequence);
    expect(pop?.by).toBe(last);
    expect(pop?.at).toBeLessThanOrEqual(expected.by);
    expect(story.bugs).toEqual([]);
  },
);

test.each([6, 6.7, 6.9])(
  'restart: a member that cannot reach the caller of a pop at first asks again before it pops: made once (R=2, n=5 s, started at %d s)',
  async (startS) => {
    const { story, calls } = await unreached(startS);
    expect(calls).toHaveLength(1);
    expect(story.bugs).toEqual([]);
  },
);

test.each([1, 4, 13])(
  'restart: etcd is away for %d s while a member waits for its old lease to end, and lets leases begin anew: the member joins all the same',
  async (awayS) => {
    const story = await Story.begin({ members: three, etcd: true });
    const { cluster, etcd } = story;
    if (etcd === null) throw new Error('This story has an etcd.');
    const { id } = await story.set({ seconds: 100, factor: 3 });
    cluster.member('m1').crash({ power: false, wipe: false });
    cluster.member('m1').start();
    await story.pass(1);
    etcd.away = true;
    await story.pass(awayS);
    etcd.away = false;
    await story.pass(30);
    expect(cluster.member('m1').member).not.toBeNull();
    expect(story.holders(id)).toEqual(three);
    await story.until(110);
    expect(story.pops(id)).toHaveLength(1);
    expect(story.bugs).toEqual([]);
  },
);

/** Found by seed 1417922799. */
test.each([1, 2, 3])(
  'restart: a member is told to stop while it works on sets under keys: every set that it confirms pops (seed %d)',
  async (seed) => {
    const story = await Story.begin({ members: three, etcd: true, seed });
    const member = story.cluster.member('m0');
    const confirmed: string[] = [];
    const set = (key: string): void => {
      const timer = {
        ...timerBody({ seconds: 60, factor: 2, opaque: key }),
        'idempotency-key': key,
      };
      const asked = { method: 'POST', path: '/timers/batch', content: [timer], via: 'm0' };
      story.send(asked, (answer) => {
        const [outcome] = JSON.parse(answer?.body ?? '[]') as { status?: number }[];
        if (outcome?.status === 200) confirmed.push(key);
      });
    };
    set('early');
    await story.pass(1);
    // Reads by key wait for members that do not answer, until the network closes.
    const mends = ['m1', 'm2'].map((name) => story.part('m0', name));
    for (let i = 0; i < 20; i++) {
      set(`set ${i}`);
      await story.pass(0.0005);
      if (i === 10) void member.stop();
    }
    await story.pass(30);
    for (const mend of mends) mend();
    member.start();
    await story.pass(90);
    expect(confirmed).toContain('early');
    const popped = story.cluster.receivers.calls.map(({ body }) => body);
    expect(confirmed.filter((key) => !popped.includes(key))).toEqual([]);
    expect(story.bugs).toEqual([]);
  },
);
