/**
 * P8 while a member leaves: "Adding, draining or losing members loses no timer, repairs the number of copies by
 * itself."
 * Found by seed 313225205.
 */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';

const four = ['m0', 'm1', 'm2', 'm3'];

async function manyTimers(story: Story): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) ids.push((await story.set({ seconds: 300, factor: 2 })).id);
  return ids;
}

/** From shorter than a lease to longer than etcd is asked again. */
const pausesS = [1, 4, 12, 25];

test.each(pausesS)(
  'a drain that etcd does not hear of, because the member stands still, still ends with the member gone (%d s)',
  async (pauseS) => {
    const story = await Story.begin({ members: four, etcd: true });
    const ids = await manyTimers(story);
    const leaver = story.cluster.member('m2');
    const left = leaver.drain();
    leaver.pause();
    await story.pass(pauseS);
    leaver.resume();
    await story.pass(30);
    expect(leaver.drained).toBe(true);
    expect(await left).toBe(true);
    for (const id of ids) expect(story.holders(id), id).toHaveLength(2);
    await story.pass(300);
    for (const id of ids) expect(story.pops(id), id).toHaveLength(1);
    expect(story.bugs).toEqual([]);
  },
);

test.each(pausesS)('a drain while etcd is away ends with the member gone (%d s)', async (awayS) => {
  const story = await Story.begin({ members: four, etcd: true });
  const ids = await manyTimers(story);
  const { etcd } = story;
  if (etcd === null) throw new Error('This story has an etcd.');
  etcd.away = true;
  const leaver = story.cluster.member('m2');
  const left = leaver.drain();
  await story.pass(awayS);
  etcd.away = false;
  await story.pass(60);
  expect(await left).toBe(true);
  for (const id of ids) expect(story.holders(id), id).toHaveLength(2);
  await story.pass(300);
  for (const id of ids) expect(story.pops(id), id).toHaveLength(1);
  expect(story.bugs).toEqual([]);
});

test.each([false, true])(
  'a drain that finds no member to hand on to before its limit: the member stays, and holds its timers again (etcd: %s)',
  async (etcd) => {
    const limitMs = 5000;
    const config = new Map([['shutdown.drainLimitMs', limitMs]]);
    const story = await Story.begin({ members: ['m0', 'm1'], etcd, config });
    const ids = await manyTimers(story);
    const mend = story.part('m0', 'm1');
    await story.pass(3);
    const left = story.cluster.member('m0').drain();
    await story.pass(limitMs / 1000 + 3);
    expect(await left).toBe(false);
    mend();
    await story.pass(30);
    for (const id of ids) expect(story.holders(id), id).toEqual(['m0', 'm1']);
    await story.pass(300);
    for (const id of ids)
      expect(new Set(story.pops(id).map((pop) => pop.sequence))).toEqual(new Set([1]));
    expect(story.bugs).toEqual([]);
  },
);

test.each([false, true])(
  'two members drain at the same moment, and there is no third: one at least stays, and holds all timers (etcd: %s)',
  async (etcd) => {
    const story = await Story.begin({ members: ['m0', 'm1'], etcd });
    const ids = await manyTimers(story);
    for (const name of ['m0', 'm1']) void story.cluster.member(name).drain();
    await story.pass(60);
    const stayed = ['m0', 'm1'].filter((name) => !story.cluster.member(name).drained);
    expect(stayed.length).toBeGreaterThan(0);
    for (const id of ids) expect(story.holders(id), id).toEqual(stayed);
    for (const name of stayed)
      expect((await story.ask('GET', '/readyz', name)).status, name).toBe(200);
    await story.pass(300);
    for (const id of ids) expect(story.pops(id), id).toHaveLength(1);
    expect(story.bugs).toEqual([]);
  },
);

test('two drains of one member are one', async () => {
  const config = new Map([['shutdown.drainLimitMs', 5000]]);
  const story = await Story.begin({ members: ['m0', 'm1'], config });
  const mend = story.part('m0', 'm1');
  await story.set({ seconds: 300 }, 'm0');
  await story.pass(3);
  const { member } = story.cluster.member('m0');
  const failed: string[] = [];
  const drain = (): void =>
    void member?.drain().catch((error: Error) => failed.push(error.message));
  drain();
  await story.pass(3);
  drain();
  await story.pass(2.5);
  expect(failed).toHaveLength(2);
  expect((await story.ask('GET', '/readyz', 'm0')).status).toBe(200);
  mend();
  await story.pass(30);
  expect(story.bugs).toEqual([]);
});

test('two members that leave while the only other one is down keep their timers, and pop each once (R=2)', async () => {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) {
    ids.push((await story.set({ seconds: 40, times: 3, factor: 2 })).id);
  }
  story.cluster.member('m2').crash({ power: false, wipe: false });
  await story.pass(20);
  const left = [story.cluster.member('m0').drain()];
  await story.pass(5);
  left.push(story.cluster.member('m1').drain());
  await story.until(150);
  for (const id of ids) {
    expect(
      story.pops(id).map(({ sequence }) => sequence),
      id,
    ).toEqual([1, 2, 3]);
  }
  expect(story.bugs).toEqual([]);
  story.cluster.member('m2').start();
  await story.pass(60);
  await Promise.all(left);
});
