/**
 * P8 and spec §8: "A joining member that answers is given timers like an active one: the phase says that resync towards
 * it is under way." Members files only; in etcd a joining member has yet to say that it is ready.
 */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';
import { viewMember } from '../src/world/views.ts';
import { joinsWhileAway } from './told/joins-while-away.ts';
import { expectPlaced } from './told/placed.contract.ts';

type Phases = Readonly<Record<string, 'joining' | 'active' | 'leaving'>>;

function write(story: Story, phases: Phases): void {
  story.cluster.views.change(
    Object.entries(phases).map(([name, phase]) => ({ ...viewMember(name), phase })),
  );
}

async function manyTimers(story: Story, seconds: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < 40; i++) ids.push((await story.set({ seconds }, 'm0')).id);
  return ids;
}

function expectOnce(story: Story, ids: readonly string[]): void {
  for (const id of ids) expect(story.pops(id), id).toHaveLength(1);
  expect(story.bugs).toEqual([]);
}

async function shown(story: Story, via: string): Promise<Record<string, string>> {
  const { body } = await story.ask('GET', '/cluster', via);
  const { members } = JSON.parse(body) as { members: { name: string; phase: string }[] };
  return Object.fromEntries(members.map(({ name, phase }) => [name, phase]));
}

test.each([true, false])(
  'a second member joins by file, and the first is killed 4 s later: all pop (started before the file is written: %s)',
  async (before) => {
    const story = await Story.begin({ members: ['m0'] });
    const ids = await manyTimers(story, 20);
    if (before) story.cluster.add('m1').start();
    await story.pass(0.5);
    write(story, { m0: 'active', m1: 'joining' });
    if (!before) story.cluster.add('m1').start();
    await story.pass(4);
    expect(await shown(story, 'm0')).toEqual({ m0: 'active', m1: 'joining' });
    expect(await shown(story, 'm1')).toEqual({ m0: 'active', m1: 'joining' });
    story.cluster.member('m0').crash({ power: true, wipe: true });
    await story.pass(40);
    expectOnce(story, ids);
  },
);

test('a joining member that does not answer yet is given nothing, and its share when it does', async () => {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
  const ids = await manyTimers(story, 100);
  const phases = { m0: 'active', m1: 'active', m2: 'active', m3: 'joining' } as const;
  const m3 = story.cluster.add('m3');
  write(story, phases);
  await story.pass(5);
  expectPlaced(story, ids, ['m0', 'm1', 'm2']);
  const { copies, replicas } = await story.set({ seconds: 10 });
  expect(copies).toBe('2/2');
  expect(replicas).not.toContain('m3');
  m3.start();
  await story.pass(10);
  expectPlaced(story, ids, ['m0', 'm1', 'm2', 'm3']);
  await story.pass(100);
  expectOnce(story, ids);
});

test('a joining member that answered and is silent later is like any silent one: stand-ins, and nothing is lost', async () => {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
  const ids = await manyTimers(story, 100);
  story.cluster.add('m3').start();
  write(story, { m0: 'active', m1: 'active', m2: 'active', m3: 'joining' });
  await story.pass(10);
  expectPlaced(story, ids, ['m0', 'm1', 'm2', 'm3']);
  story.cluster.member('m3').crash({ power: true, wipe: true });
  await story.pass(50);
  for (const id of ids) expect(story.holders(id), id).toHaveLength(2);
  await story.pass(100);
  expectOnce(story, ids);
});

test('two join at once: both get their share', async () => {
  const story = await Story.begin({ members: ['m0', 'm1'] });
  story.cluster.views.delayMs = 1000;
  const ids = await manyTimers(story, 60);
  for (const name of ['m2', 'm3']) story.cluster.add(name).start();
  write(story, { m0: 'active', m1: 'active', m2: 'joining', m3: 'joining' });
  await story.pass(20);
  expectPlaced(story, ids, ['m0', 'm1', 'm2', 'm3']);
  await story.pass(100);
  expectOnce(story, ids);
});

test('from joining to active nothing moves', async () => {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
  const ids = await manyTimers(story, 100);
  const others = { m0: 'active', m1: 'active', m2: 'active' } as const;
  story.cluster.add('m3').start();
  write(story, { ...others, m3: 'joining' });
  await story.pass(10);
  const holders = ids.map((id) => story.holders(id));
  write(story, { ...others, m3: 'active' });
  await story.pass(10);
  expect(ids.map((id) => story.holders(id))).toEqual(holders);
  for (const via of ['m0', 'm3']) {
    const { body } = await story.ask('GET', '/cluster', via);
    expect(JSON.parse(body)).toMatchObject({ resync: { running: false, moved: 0 } });
    expect(await shown(story, via)).toEqual({ ...others, m3: 'active' });
  }
  await story.pass(100);
  expectOnce(story, ids);
});

/** Found by seeds 3724110899 and 3724114731. */
test.each([5, 10, 20, 60].flatMap((seconds) => [1, 2].map((seed) => ({ seconds, seed }))))(
  'a member joins by file while the holder of all timers is down: it asks the holder before the pops that it is given, which are made once: %j',
  async ({ seconds, seed }) => {
    expect(new Set(await joinsWhileAway(seconds, seed))).toEqual(new Set([1]));
  },
);
