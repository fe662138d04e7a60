/** A cluster of real processes on a real etcd: members that die leave the view, and etcd itself may go away. */
import { afterEach, describe, expect, test } from 'vitest';
import { etcdForTests } from '../../scripts/etcd.ts';
import { EtcdCluster } from '../../scripts/etcd-cluster.ts';
import { whereabouts } from './support/holders.ts';
import { Story } from './support/story.ts';
import { until } from './support/until.ts';

const paths = etcdForTests();
const opened: { end(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.end();
}, 60_000);

describe.skipIf(paths === null)('members on etcd, under load', () => {
  async function begin(): Promise<{ etcd: EtcdCluster; story: Story }> {
    if (paths === null) throw new Error('There is no etcd.');
    const etcd = await EtcdCluster.start({ paths });
    opened.push({ end: () => etcd.stop() });
    const story = await Story.begin({ names: ['n0', 'n1', 'n2'], etcd: etcd.endpoints });
    opened.push(story);
    return { etcd, story };
  }

  test('a killed member leaves the view, every timer has two copies again, and it comes back', async () => {
    const { story } = await begin();
    const { cluster } = story;
    const hour = { intervalMs: 3_600_000, count: 1, factor: 2 };
    const ids = await story.setMany(Array.from({ length: 300 }, () => hour));
    story.load.start();
    await story.pass(1000, 2000);
    const dead = story.random.pick([...cluster.members.values()]);
    const revive = await story.kill(dead);
    const killedMs = performance.now();
    const left = cluster.running;
    await cluster.seeEachOther();
    const goneMs = performance.now() - killedMs;
    const repairedMs = await until('two copies of every timer', 60_000, async () => {
      return (await whereabouts(left, ids, 2)).wrong.length === 0;
    });
    await revive();
    await cluster.seeEachOther();
    await until('two copies of every timer, in their places', 60_000, async () => {
      return (await whereabouts(cluster.running, ids, 2)).wrong.length === 0;
    });
    await story.cancel(ids);
    console.log(
      `out of the view after ${Math.round(goneMs)} ms, copies back ${Math.round(repairedMs)} ms later`,
    );
    expect(await story.finish('dead and back')).toEqual([]);
  });

  test('etcd is killed and comes back: no client notices', async () => {
    const { etcd, story } = await begin();
    story.load.start();
    await story.pass(1000, 1500);
    await etcd.kill(0);
    // Longer than a lease lasts.
    await story.pass(7000, 8000);
    const views = await Promise.all(story.cluster.running.map((member) => member.cluster()));
    for (const { members } of views) expect(members.map(({ name }) => name)).toHaveLength(3);
    etcd.launch(0);
    await etcd.ready();
    await until('the members are back in etcd', 30_000, () => etcd.contents().leases >= 3);
    await story.cluster.seeEachOther();
    await story.pass(1000, 1500);
    expect(await story.finish('etcd away')).toEqual([]);
  });
});
