/** A test of the tests: every deliberately broken variant is noticed, by seeds or by a story. */
import { expect, test } from 'vitest';
import { drainedWhileCalling } from '../scenarios/drained-while-calling.ts';
import { formerStandIn } from '../scenarios/former-stand-ins.ts';
import { slowAndLeftBehind } from '../scenarios/slow-and-left-behind.ts';
import { type Broken, variants } from './broken.ts';
import { drawPlan, wholePlan } from './plan.ts';
import { wellMannered } from './receivers.ts';
import { runPlan } from './run.ts';
import { Story } from './story.ts';

/** The first seeds that notice; a few more are tried, because any change moves them. */
const seedsByName: Readonly<Record<string, readonly number[]>> = {
  'answer before replication': [1],
  'no claim': [17],
  'a failed callback counts as done': [11],
  'wall clock for due times': [4],
  'version ignored in merge': [30],
  'no stand-in': [1],
  'tombstone too short': [17],
  'no sync before an answer': [10],
  'two seconds of skew for every interval': [9],
  'a copy is dropped before the new replicas have it': [7],
  'no resync': [2],
};
const moreSeeds = 40;

async function seedsNotice(name: string): Promise<boolean> {
  const more = Array.from({ length: moreSeeds }, (_, i) => i + 1);
  for (const seed of [...(seedsByName[name] ?? []), ...more]) {
    if ((await runPlan(drawPlan(seed, wholePlan))).violations.length > 0) return true;
  }
  return false;
}

const three = ['m0', 'm1', 'm2'];

/** What seeds seldom meet, told as a story: true when it goes as it should. */
const stories: Readonly<Record<string, () => Promise<boolean>>> = {
  'the outcome of a pop beats an update': async () => {
    const story = await Story.begin({ members: ['m0'] });
    const { id } = await story.set({ seconds: 2, times: 10, factor: 1, opaque: 'old' });
    story.cluster.receivers.behave('r0', { does: 'answer', status: 200, afterMs: 500 });
    await story.until(2.1);
    await story.replace(id, { seconds: 5, factor: 1, opaque: 'new' });
    await story.until(30);
    return story.calls(id).filter(({ body }) => body === 'old').length === 1;
  },
  'a claim that overtakes its record is not remembered': async () => {
    const all = await slowAndLeftBehind(1, 1);
    return all.every((sequences) => new Set(sequences).size === sequences.length);
  },
  'nobody asks a member that leaves': async () => {
    const sequences = await drainedWhileCalling(1, { seconds: 5, times: 3, factor: 1 }, 5.5);
    return new Set(sequences).size === sequences.length;
  },
  'a former stand-in forgets the present one': async () => {
    const sequences = await formerStandIn(1);
    return new Set(sequences).size === sequences.length;
  },
  'no skew': async () => {
    const story = await Story.begin({ members: three });
    const { id, replicas } = await story.set({ seconds: 20, factor: 3 });
    story.cluster.member(replicas[0] ?? '').crash({ power: true, wipe: true });
    await story.until(30);
    return story.pops(id)[0]?.at === 22;
  },
  'no repair': async () => {
    const story = await Story.begin({ members: three });
    const { id, replicas } = await story.set({ seconds: 200, factor: 3 });
    const [a = '', b = '', c = ''] = replicas;
    const mends = [story.part(a, b), story.part(a, c)];
    await story.until(10);
    await story.cancel(id, b);
    await story.until(30);
    for (const mend of mends) mend();
    await story.until(100);
    return story.holders(id).length === 0;
  },
  'tombstone dropped without asking': async () => {
    const story = await Story.begin({ members: three });
    const { id, replicas } = await story.set({ seconds: 60, factor: 3 });
    const [a = '', b = '', c = ''] = replicas;
    const mends = [story.part(a, b), story.part(a, c)];
    await story.until(5);
    await story.cancel(id, b);
    await story.until(30);
    for (const mend of mends) mend();
    story.cluster.receivers.behave('r0', wellMannered);
    await story.until(100);
    return story.pops(id).length === 0;
  },
};

test.each(Object.keys(stories))('%s: the story goes well while nothing is broken', async (name) => {
  expect(await stories[name]?.()).toBe(true);
});

test.each(variants)(
  '$name: somebody notices',
  { timeout: 300_000 },
  async ({ name, apply }: Broken) => {
    const mend = apply();
    try {
      const story = stories[name];
      const noticed = story === undefined ? await seedsNotice(name) : !(await story());
      expect(noticed).toBe(true);
    } finally {
      mend();
    }
  },
);
