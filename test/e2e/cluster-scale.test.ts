/** Members come and go under load: through the members file, and through etcd with `carillon cluster drain`. */
import { afterEach, describe, expect, test } from 'vitest';
import { etcdForTests } from '../../scripts/etcd.ts';
import { EtcdCluster } from '../../scripts/etcd-cluster.ts';
import { CliProcess } from './cli-process.ts';
import { scaleUp } from './support/scale-up.ts';
import { Story, type StoryOptions } from './support/story.ts';
import { until } from './support/until.ts';

const paths = etcdForTests();
const opened: { end(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.end();
}, 60_000);

async function begin(options: StoryOptions): Promise<Story> {
  const story = await Story.begin(options);
  opened.push(story);
  return story;
}

/** Resolves when a member has handed everything on and its process has ended. */
async function drain(story: Story, name: string): Promise<void> {
  const member = story.cluster.member(name);
  const { ended } = member;
  const asked = story.cluster.running.find((one) => one.name !== name);
  const command = new CliProcess(['cluster', 'drain', name, '--server', asked?.url ?? '']);
  expect(await command.ended, command.errors.join('\n')).toEqual({ code: 0, signal: null });
  expect(await ended).toEqual({ code: 0, signal: null });
}

describe('members come and go under load', () => {
  test('from two to four and back to two, by the members file: every pop comes once', async () => {
    const story = await begin({ names: ['n0', 'n1'] });
    const { cluster } = story;
    const two = { n0: 'active', n1: 'active' } as const;
    const four = { ...two, n2: 'active', n3: 'active' } as const;
    const added = [cluster.add('n2'), cluster.add('n3')];
    cluster.writeMembers({ ...two, n2: 'joining', n3: 'joining' });
    story.load.start();
    await Promise.all(added.map((member) => member.start()));
    cluster.writeMembers(four);
    await cluster.seeEachOther();
    await story.pass(2000, 3000);
    cluster.writeMembers({ ...two, n2: 'leaving', n3: 'leaving' });
    await until('nothing is left on members that leave', 60_000, async () => {
      const left = await Promise.all(added.map((member) => member.copies()));
      return left.every((count) => count === 0);
    });
    story.forget('n2', 'n3');
    cluster.writeMembers(two);
    for (const member of added) expect(await member.stop()).toEqual({ code: 0, signal: null });
    await cluster.seeEachOther();
    await story.pass(1000, 2000);
    expect(await story.finish('scaled by file')).toEqual([]);
  });

  test('a fourth member takes a quarter of the primaries, no other member any, and all copies are there', async () => {
    const story = await begin({ names: ['n0', 'n1', 'n2'] });
    const timers = 5000;
    const result = await scaleUp(story, { timers, popsPerSecond: 50, limitMs: 60_000 });
    expect(result.after.wrong).toEqual([]);
    expect(result.movedElsewhere).toBe(0);
    expect(Math.abs(result.moved / timers - 1 / 4)).toBeLessThan(0.02);
    expect(result.broken).toEqual([]);
    console.log(
      `3 to 4 members: ${result.moved} of ${timers} primaries moved in ${Math.round(result.tookMs)} ms, ` +
        `${result.popsMeanwhile} pops meanwhile; ${story.summary()}`,
    );
  });

  test.skipIf(paths === null)(
    'from two to four and back to two, by joining etcd and draining: every pop comes once',
    async () => {
      if (paths === null) return;
      const etcd = await EtcdCluster.start({ paths });
      opened.push({ end: () => etcd.stop() });
      const story = await begin({ names: ['n0', 'n1'], etcd: etcd.endpoints });
      story.load.start();
      const added = ['n2', 'n3'].map((name) => story.cluster.add(name));
      await Promise.all(added.map((member) => member.start()));
      await story.cluster.seeEachOther();
      await story.pass(2000, 3000);
      for (const { name } of added) {
        story.forget(name);
        await drain(story, name);
      }
      await story.cluster.seeEachOther();
      await story.pass(1000, 2000);
      expect(await story.finish('scaled by etcd')).toEqual([]);
    },
  );
});
