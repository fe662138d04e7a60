/**
 * P6 while etcd shows less than there is: "After an acknowledged cancel no callback starts, except by a member that was
 * cut off or paused at that moment." Members that etcd does not know are there all the same, and can be asked.
 */
import { describe, expect, test } from 'vitest';
import { Story } from '../src/story.ts';
import { numberOf } from './told/stand-ins/number-of.ts';
import { startWithoutEtcd } from './told/stand-ins/start-without-etcd.ts';

test.each([3, 30, 56.2])(
  'etcd comes back and shows a member only itself: it waits for the replicas of timers that fell due meanwhile (n = %f s)',
  async (seconds) => {
    const late = await startWithoutEtcd(seconds, (story, id) =>
      story.replace(id, { seconds: 200, opaque: 'new' }, 'm1'),
    );
    expect(late.map(({ by, sequence }) => [by, sequence])).toEqual([]);
    const cancelled = await startWithoutEtcd(seconds, (story, id) => story.cancel(id, 'm1'));
    expect(cancelled).toEqual([]);
  },
);

/** Found by seed 1417921970. */
test.each([3, 30, 56.2])(
  'etcd comes back and shows a member only itself: it waits for the members that may have stood in for it (R=1, n = %f s)',
  async (seconds) => {
    const replaced = await startWithoutEtcd(
      seconds,
      (story, id) => story.replace(id, { seconds: 200, factor: 1, opaque: 'new' }, 'm1'),
      1,
    );
    expect(replaced.map(({ by, sequence }) => [by, sequence])).toEqual([]);
    expect(await startWithoutEtcd(seconds, (story, id) => story.cancel(id, 'm1'), 1)).toEqual([]);
  },
);

const five = ['m0', 'm1', 'm2', 'm3', 'm4'];

test.each([1, 2, 3, 4])(
  'a member that restarts in a whole cluster on etcd keeps overdue pops waiting for one round of hellos at most: the others agree (seed %d)',
  async (seed) => {
    const story = await Story.begin({ members: five, etcd: true, seed });
    const number = `${numberOf(five, 1000)}-1`;
    const { id } = await story.replace(number, { seconds: 20, factor: 1 });
    const member = story.cluster.member('m0');
    await story.pass(15);
    await Promise.all([member.stop(), story.pass(1)]);
    await story.pass(9);
    member.start();
    const startedMs = story.cluster.world.nowMs;
    await story.pass(10);
    const lateMs = story.calls(id).map(({ startMs }) => startMs - startedMs);
    expect(lateMs).toHaveLength(1);
    expect(lateMs[0]).toBeLessThan(1300);
  },
);

/** Timers whose replicas all lose their places in etcd, though they run and reach all other members. */
async function loseReplicas(factor: number) {
  const story = await Story.begin({ members: five, etcd: true });
  const { etcd } = story;
  if (etcd === null) throw new Error('This story has an etcd.');
  await story.pass(10);
  const { id, replicas } = await story.set({ seconds: 60, factor, opaque: 'old' });
  const [via = ''] = five.filter((name) => !replicas.includes(name));
  for (const name of replicas) etcd.cut(name);
  return { story, id, via, replicas };
}

describe.each([1, 2])('all replicas are gone from the view and run on (R=%d)', (factor) => {
  test.each([8.2, 9, 30])(
    'cancel %d s later, through another member: none of them calls back',
    async (seconds) => {
      const { story, id, via } = await loseReplicas(factor);
      await story.pass(seconds);
      expect((await story.cancel(id, via)).status).toBe(200);
      await story.pass(120);
      expect(story.pops(id)).toEqual([]);
    },
  );

  test('replace, through another member: only the new definition pops, once', async () => {
    const { story, id, via } = await loseReplicas(factor);
    await story.pass(30);
    await story.replace(id, { seconds: 60, factor, opaque: 'new' }, via);
    await story.pass(120);
    expect(story.calls(id).map(({ body }) => body)).toEqual(['new']);
  });

  test('read, through another member: it is shown', async () => {
    const { story, id, via } = await loseReplicas(factor);
    await story.pass(30);
    expect((await story.shown(id, via))?.['callback']).toMatchObject({ http: { opaque: 'old' } });
  });

  test('list, through another member: it is there, and no member is reported missing', async () => {
    const { story, id, via } = await loseReplicas(factor);
    await story.pass(30);
    const { body } = await story.ask('GET', '/timers', via);
    const page = JSON.parse(body) as { timers: { id: string }[]; missing: string[] };
    const numbers = page.timers.map((timer) => timer.id.slice(0, 16));
    expect([numbers, page.missing]).toEqual([[id.slice(0, 16)], []]);
  });

  test('cancel, through a member that started since and never heard of them: they ask before they call back', async () => {
    const { story, id, via } = await loseReplicas(factor);
    await story.pass(15);
    story.cluster.member(via).crash({ power: true, wipe: false });
    await story.pass(1);
    story.cluster.member(via).start();
    await story.pass(14);
    expect((await story.cancel(id, via)).status).toBe(200);
    await story.pass(120);
    expect(story.pops(id)).toEqual([]);
  });
});

test('dead members that vanished from the view hold up neither a cancel nor a list', async () => {
  const story = await Story.begin({ members: five, etcd: true });
  await story.pass(10);
  const timers = [];
  for (let i = 0; i < 20; i++) timers.push(await story.set({ seconds: 500 }));
  for (const name of ['m3', 'm4']) story.cluster.member(name).crash({ power: true, wipe: false });
  await story.pass(30);
  const { body } = await story.ask('GET', `/timers/${timers[0]?.id}/attempts`, 'm1');
  expect(JSON.parse(body)).toEqual({ attempts: [], missing: [] });
  const tookMs = async (doIt: () => Promise<{ status: number }>): Promise<number> => {
    const beganMs = story.cluster.world.nowMs;
    expect((await doIt()).status).toBe(200);
    return story.cluster.world.nowMs - beganMs;
  };
  // The first of them may find out.
  await story.ask('GET', '/timers', 'm0');
  expect(await tookMs(() => story.ask('GET', '/timers', 'm0'))).toBeLessThan(20);
  for (const { id } of timers) {
    expect(await tookMs(() => story.cancel(id, 'm0')), id).toBeLessThan(20);
  }
});

test.each([4, 10, 30])(
  'all members lose their places in etcd, which is then away: they still ask each other, and every pop is made once (n = %d s)',
  async (seconds) => {
    const story = await Story.begin({ members: ['m0', 'm1'], etcd: true });
    const { etcd, cluster } = story;
    if (etcd === null) throw new Error('This story has an etcd.');
    await story.pass(10);
    const times = Math.ceil(120 / seconds);
    const { id } = await story.set({ seconds, times, factor: 2 }, 'm1');
    for (const name of ['m1', 'm0']) {
      cluster.member(name).pause();
      await story.pass(5.3);
    }
    await story.pass(2);
    etcd.away = true;
    for (const name of ['m0', 'm1']) cluster.member(name).resume();
    await story.pass(seconds * times + 5);
    etcd.away = false;
    await story.pass(20);
    // Pops that fell due while both stood still are merged into one.
    const sequences = story.calls(id).map(({ sequence }) => sequence);
    expect(sequences).toEqual([...new Set(sequences)]);
    expect(sequences.at(-1)).toBe(times);
    expect(story.bugs).toEqual([]);
  },
);
