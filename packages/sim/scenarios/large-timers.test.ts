/**
 * Timers whose opaque is as long as is allowed. Everything that members send each other is bounded in bytes, so that
 * large timers are confirmed, listed and popped as small ones are, and reading them slows no other work (P1, P5).
 */
import { expect, test } from 'vitest';
import { type Story, timerBody } from '../src/story.ts';
import { viewMember } from '../src/world/views.ts';
import {
  begin,
  members,
  numberOf,
  opaque,
  type Page,
  setAtOnce,
  setHundred,
} from './told/large-timers.ts';

/** Everything that the pages of a list show, as the numbers of the timers; throws when a member did not answer. */
async function listAll(story: Story, limit: number, via?: string): Promise<string[]> {
  const numbers: string[] = [];
  let cursor: string | null = null;
  do {
    const from = cursor === null ? '' : `&cursor=${cursor}`;
    const { body } = await story.ask('GET', `/timers?limit=${limit}${from}`, via);
    const page = JSON.parse(body) as Page;
    if (page.missing.length > 0) throw new Error(`No answer from ${page.missing.join(', ')}.`);
    numbers.push(...page.timers.map(({ id }) => numberOf(id)));
    ({ cursor } = page);
  } while (cursor !== null);
  return numbers;
}

test('large timers: a hundred sets at once have all their copies (64 KiB, R=2)', async () => {
  const story = await begin();
  const timers = await setAtOnce(story, 100, {});
  expect(timers.filter(({ copies }) => copies !== '2/2')).toEqual([]);
});

test('large timers: a list in pages of 1000, 100 or 7 shows every timer once (64 KiB, R=2)', async () => {
  const story = await begin();
  const timers = await setHundred(story, {});
  for (const limit of [1000, 100, 7]) {
    const numbers = await listAll(story, limit);
    expect(numbers.toSorted()).toEqual(timers.map(({ id }) => numberOf(id)).toSorted());
  }
});

test('large timers: the claim of a pop waits behind no sets of megabytes on their way to the same member (R=2, 40 Mbit/s)', async () => {
  const story = await begin();
  const { cables, receivers, world } = story.cluster;
  const { id, replicas } = await story.set({ seconds: 2 });
  const dueMs = world.nowMs + 2000;
  cables.bytesPerMs = 5000;
  await story.until(1.9);
  const content = Array.from({ length: 100 }, () => timerBody({ seconds: 600, opaque }));
  story.send({ method: 'POST', path: '/timers/batch', content, via: replicas[0] }, () => {});
  await story.pass(10);
  const calls = receivers.calls.filter(({ popId }) => popId.startsWith(numberOf(id)));
  expect(calls).toHaveLength(1);
  // A claim waits for an answer up to 100 ms.
  expect((calls[0]?.startMs ?? 0) - dueMs).toBeLessThan(50);
});

test.each([
  { what: 'was cut off when they were set', wipe: false },
  { what: 'comes back with an empty disk', wipe: true },
])('large timers: a member that $what gets its copies (64 KiB, R=2)', async ({ wipe }) => {
  const story = await begin();
  const m2 = story.cluster.member('m2');
  if (!wipe) m2.crash({ power: false, wipe });
  const timers = await setHundred(story, {});
  if (wipe) m2.crash({ power: true, wipe });
  m2.start();
  await story.pass(60);
  const numbers = timers.map(({ id }) => [id, story.holders(id).length]);
  expect(numbers.filter(([, count]) => count !== 2)).toEqual([]);
});

test('large timers: a new member gets its share, and the others keep theirs (64 KiB, R=2)', async () => {
  const story = await begin();
  const timers = await setHundred(story, {});
  story.cluster.add('m3').start();
  story.cluster.views.change([...members, 'm3'].map((name) => viewMember(name)));
  await story.pass(30);
  const holders = timers.map(({ id }) => story.holders(id));
  expect(holders.filter((names) => names.length !== 2)).toEqual([]);
  expect(holders.filter((names) => names.includes('m3')).length).toBeGreaterThan(30);
});
