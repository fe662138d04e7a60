/**
 * §10: "Disk full: sets are refused with 507, pops and cancels go on." P1: a 2xx means that the record is on every
 * replica, stand-ins included.
 */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';

const names = ['m0', 'm1', 'm2', 'm3'];

/**
 * Fills the disk of a member to the last byte and waits until the member has noticed; the returned function makes room.
 */
async function fill(story: Story, name: string): Promise<() => void> {
  const disk = story.cluster.member(name).storage;
  if (disk === null) throw new Error('This member has no disk.');
  disk.capacityBytes = disk.usedBytes;
  // A member keeps a reserve for writes under way, so it notices only when that is used up.
  while ((await story.ask('GET', '/readyz', name)).status === 200) {
    await story.set({ seconds: 9000, factor: 4 }, name).catch(() => undefined);
  }
  return () => {
    disk.capacityBytes = Number.POSITIVE_INFINITY;
  };
}

/** Timers set while the disk of m1 is full, and among them the ones that placement gives to m1. */
async function setMany(story: Story, seconds: number) {
  const timers = [];
  for (let i = 0; i < 30; i++) timers.push(await story.set({ seconds }, ['m0', 'm2', 'm3'][i % 3]));
  return { timers, replaced: timers.filter(({ replicas }) => replicas.includes('m1')) };
}

test('full disk: a replica without room gets a stand-in at once, and every timer has its copies (R=2)', async () => {
  const story = await Story.begin({ members: names });
  await fill(story, 'm1');
  const { timers, replaced } = await setMany(story, 600);
  expect(replaced.length).toBeGreaterThan(5);
  for (const { id, copies } of timers) {
    expect(copies).toBe('2/2');
    expect(story.holders(id)).toHaveLength(2);
    expect(story.holders(id)).not.toContain('m1');
  }
  expect(story.bugs).toEqual([]);
});

test('full disk: stand-ins stay replicas for as long as there is no room, and are told of every pop (R=2)', async () => {
  const story = await Story.begin({ members: names });
  await fill(story, 'm1');
  const { id, replicas } = await firstWith(story, 'm1', { seconds: 20, times: 20 });
  const holders = story.holders(id);
  expect(replicas).toHaveLength(3);
  await story.until(130);
  expect(story.holders(id)).toEqual(holders);
  for (const name of holders) {
    expect(story.record(id, name)?.replicas, name).toEqual(replicas);
    expect(story.record(id, name)?.sequence, name).toBe(6);
  }
  expect(story.pops(id).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6]);
});

test('full disk: the holder dies, and the stand-in pops in its place (R=2)', async () => {
  const story = await Story.begin({ members: names });
  await fill(story, 'm1');
  const { id } = await firstWith(story, 'm1', { seconds: 60 });
  await story.until(40);
  const [first = '', second = ''] = story.holders(id);
  const dead = story.record(id, first)?.replicas[0] === first ? first : second;
  story.cluster.member(dead).crash({ power: true, wipe: true });
  await story.until(75);
  const [pop, ...more] = story.pops(id);
  expect([pop?.sequence, more]).toEqual([1, []]);
  expect(pop?.by).toBe(dead === first ? second : first);
  // At position 2 of the list, two seconds each.
  expect(pop?.at).toBeLessThan(67);
});

test('full disk: with room again, the replica gets the records it missed and the stand-ins let go, and every pop comes once (R=2)', async () => {
  const story = await Story.begin({ members: names });
  const makeRoom = await fill(story, 'm1');
  const { timers, replaced } = await setMany(story, 200);
  await story.until(60);
  makeRoom();
  await story.until(150);
  for (const { id } of replaced) {
    expect(story.holders(id), id).toContain('m1');
    expect(story.holders(id), id).toHaveLength(2);
  }
  await story.until(260);
  for (const { id } of timers) expect(story.pops(id).map(({ sequence }) => sequence)).toEqual([1]);
});

test('full disk: two of four without room, and the other two hold everything (R=2)', async () => {
  const story = await Story.begin({ members: names });
  await fill(story, 'm1');
  await fill(story, 'm3');
  for (let i = 0; i < 20; i++) {
    const { id, copies } = await story.set({ seconds: 600 }, 'm0');
    expect(copies).toBe('2/2');
    expect(story.holders(id)).toEqual(['m0', 'm2']);
  }
});

test('full disk: no member has room, so nothing is promised (R=2)', async () => {
  const story = await Story.begin({ members: names });
  for (const name of names) await fill(story, name);
  const statuses = new Set<string>();
  for (let i = 0; i < 10; i++) {
    statuses.add(await story.set({ seconds: 600 }, 'm0').then(() => '200', String));
  }
  expect([...statuses].every((status) => status.includes('507'))).toBe(true);
});

async function firstWith(story: Story, name: string, wish: { seconds: number; times?: number }) {
  for (;;) {
    const timer = await story.set(wish, 'm0');
    if (timer.replicas.includes(name)) return timer;
    await story.cancel(timer.id, 'm0');
  }
}

/** Found by seed 1909291794. */
test('a member that finds too little room on an empty disk does not start, and starts once there is room', async () => {
  const story = await Story.begin({ members: names });
  const member = story.cluster.member('m0');
  // A crash leaves another disk behind, with the synced bytes of the one before.
  const setRoom = (bytes: number): void => {
    if (member.storage !== null) member.storage.capacityBytes = bytes;
  };
  member.crash({ power: true, wipe: true });
  setRoom(16);
  member.start();
  await story.pass(1);
  expect([member.healthy, story.bugs]).toEqual([false, []]);
  setRoom(Number.POSITIVE_INFINITY);
  await story.pass(20);
  expect([member.healthy, story.bugs]).toEqual([true, []]);
});
