/**
 * P4: "A timer set for n pops by 2n while any replica of it is alive." A frame sent to a member that stands still is
 * read when the member goes on, and by then is older than it says.
 */
import { View } from '@carillon/server/internal';
import { expect, test } from 'vitest';
import { Story, timerBody } from '../src/story.ts';
import { viewMember } from '../src/world/views.ts';
import { epochMs } from '../src/world/world.ts';
import { lateCron } from './told/late-cron/once.ts';
import { lateCronTwice } from './told/late-cron/twice.ts';
import { lateCronUnknown } from './told/late-cron/unknown.ts';

const three = ['m0', 'm1', 'm2'];
/** A number of the client's own choice, and the members that it ranks. */
const number = '00000000000004d2';
const two = ['m0', 'm1'];
const members = two.map((name) => viewMember(name));
const ranked = new View({ source: 'test', revision: 1, members }).place(0, 0x4d2, two.length);

/** How long after its due time the pop came; Infinity: not at all. */
function latenessS(story: Story, id: string, dueS: number, sequence: number): number {
  const pop = story.pops(id).find((one) => one.sequence === sequence);
  return pop === undefined ? Number.POSITIVE_INFINITY : pop.at - dueS;
}

test.each([
  { primaryStopsS: 13, why: 'before it could tell again' },
  { primaryStopsS: 14.9, why: 'after it told again' },
])(
  'a backup that stood still over a pop has the time of the next one right, though the primary stops $why (R=2, n=5 s)',
  async ({ primaryStopsS }) => {
    const story = await Story.begin({ members: three });
    const { id, replicas } = await story.set({ seconds: 5, times: 6 });
    const [primary = '', backup = ''] = replicas;
    await story.until(9.9);
    story.cluster.member(backup).pause();
    await story.until(Math.min(primaryStopsS, 14));
    if (primaryStopsS < 14) story.cluster.member(primary).pause();
    await story.until(14);
    story.cluster.member(backup).resume();
    await story.until(Math.max(primaryStopsS, 14));
    story.cluster.member(primary).pause();
    await story.until(40);
    expect(latenessS(story, id, 15, 3)).toBeLessThanOrEqual(5);
    expect(story.bugs).toEqual([]);
  },
);

test('the same for a timer of the wall clock, once it was told again (R=2, every 5 s by cron)', async () => {
  const story = await Story.begin({ members: three });
  const timing = { cron: '*/5 * * * * *', count: 8 };
  const { id, replicas } = await story.set({ seconds: 5, timing });
  const [primary = '', backup = ''] = replicas;
  await story.pass(5.1);
  const firstS = story.pops(id)[0]?.at ?? Number.NaN;
  await story.until(firstS + 4.9);
  story.cluster.member(backup).pause();
  await story.until(firstS + 8);
  story.cluster.member(backup).resume();
  await story.until(firstS + 9.9);
  story.cluster.member(primary).pause();
  await story.until(firstS + 20);
  expect(latenessS(story, id, firstS + 10, 3)).toBeLessThanOrEqual(2.5);
  expect(story.bugs).toEqual([]);
});

const seconds = 30;
/** The turns of the replicas after the first, and some room. */
const usualS = 5;

/** Timers set while m0 stands still, by id, and when each is due. */
async function setWithout(story: Story, factor: number): Promise<Map<string, number>> {
  story.cluster.member('m0').pause();
  await story.pass(3);
  story.zero();
  const dues = new Map<string, number>();
  for (let i = 0; i < 10; i++) {
    const dueS = story.seconds + seconds;
    dues.set((await story.set({ seconds, factor }, 'm1')).id, dueS);
  }
  return dues;
}

/** m0 goes on at that second, and then each timer pops once, with the usual lateness. */
async function eachPopsOnceAfter(
  resumeS: number,
  story: Story,
  dues: ReadonlyMap<string, number>,
): Promise<void> {
  await story.until(resumeS);
  story.cluster.member('m0').resume();
  await story.until(100);
  for (const [id, dueS] of dues) {
    expect(story.pops(id), id).toHaveLength(1);
    expect(latenessS(story, id, dueS, 1), id).toBeLessThanOrEqual(usualS);
  }
  expect(story.bugs).toEqual([]);
}

test.each([1, 2, 3].flatMap((factor) => [10, 29.5, 31].map((resumeS) => ({ factor, resumeS }))))(
  'a stand-in hands a timer back to the replica that stood still: it pops by 2n (n=30 s): %j',
  async ({ factor, resumeS }) => {
    const story = await Story.begin({ members: three });
    const dues = await setWithout(story, factor);
    await eachPopsOnceAfter(resumeS, story, dues);
  },
);

test('a replica that stood still when a timer was set, and is alone when it pops: by 2n (R=2, n=30 s)', async () => {
  const story = await Story.begin({ members: three });
  const dues = await setWithout(story, 2);
  await story.until(29);
  story.cluster.member('m0').resume();
  await story.until(29.9);
  for (const name of ['m1', 'm2']) story.cluster.member(name).pause();
  const held = [...dues].filter(([id]) => story.record(id, 'm0') !== undefined);
  await story.until(100);
  expect(held.length).toBeGreaterThan(0);
  for (const [id, dueS] of held)
    expect(latenessS(story, id, dueS, 1), id).toBeLessThanOrEqual(usualS);
});

test.each([10, 29.5, 31])(
  'a stand-in that has forgotten which member missed a timer hands it back all the same with the right time (R=1, n=30 s, %d s)',
  async (resumeS) => {
    const story = await Story.begin({ members: three });
    const dues = await setWithout(story, 1);
    for (const name of ['m1', 'm2']) {
      story.cluster.member(name).crash({ power: false, wipe: false });
      story.cluster.member(name).start();
    }
    await eachPopsOnceAfter(resumeS, story, dues);
  },
);

/** Shorter than a period, about one, and more. */
test.each([12, 26, 29.8, 31])(
  'the word of a pop of a cron timer lay in the socket of the backup for %d s: alone, it still keeps to the times of the pattern (P4)',
  async (standsS) => {
    const { story, late } = await lateCron(standsS);
    expect(late).toEqual([]);
    expect(story.bugs).toEqual([]);
  },
);

/** Found by seed 2520668991. */
test.each([
  { firstS: 0.05, thenS: 2 },
  { firstS: 0.2, thenS: 9 },
])(
  'the word of a cron timer lay in the socket of the backup, and the word of its pop in that of the primary: no pop is early (P3): %j',
  async ({ firstS, thenS }) => {
    expect(await lateCronTwice(firstS, thenS)).toEqual([0, 0, 0, 0]);
  },
);

test.each([7, 21, 34, 50])(
  'the word of a cron timer and of its first pop lay in the socket of the backup for %d s: alone, it leaves no time of the pattern out (P2)',
  async (standsS) => {
    const { story, sequences } = await lateCronUnknown(standsS);
    expect([...new Set(sequences)]).toEqual([1, 2, 3, 4, 5, 6]);
    expect(story.bugs).toEqual([]);
  },
);

/** When the backup pops a timer for the 100th second, of which it heard `standsS` late and which it then has alone. */
async function lateInstant(standsS: number): Promise<number | undefined> {
  const story = await Story.begin({ members: two });
  await story.until(18);
  const timing = { at: new Date(epochMs + 105_000).toISOString() };
  const [primary = '', backup = ''] = ranked;
  const asked = { method: 'PUT', path: `/timers/${number}-2`, via: primary };
  if (standsS > 0) story.cluster.member(backup).pause();
  story.send({ ...asked, content: timerBody({ seconds: 0, timing }) }, () => {});
  await story.pass(Math.max(standsS, 1));
  story.cluster.member(primary).crash({ power: true, wipe: false });
  if (standsS > 0) story.cluster.member(backup).resume();
  await story.until(300);
  expect(story.bugs).toEqual([]);
  return story.pops(number)[0]?.at;
}

test.each([3, 12, 26])(
  'the word of a timer for an instant lay in the socket of the backup for %d s: alone, it pops no later than without',
  async (standsS) => {
    expect(await lateInstant(standsS)).toBe(await lateInstant(0));
  },
);
