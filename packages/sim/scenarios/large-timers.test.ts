/**
 * Timers whose opaque is as long as is allowed. Everything that members send each other is bounded in bytes, so that
 * large timers are confirmed, listed and popped as small ones are, and reading them slows no other work (P1, P5).
 */
import { SeededRandom } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { Story, timerBody, type Wish } from '../src/story.ts';
import { viewMember } from '../src/world/views.ts';

const members = ['m0', 'm1', 'm2'];
const KiB = 1024;
const MiB = 1024 * KiB;
const opaque = 'x'.repeat(64 * KiB);

interface Page {
  readonly timers: readonly { readonly id: string }[];
  readonly cursor: string | null;
  readonly missing: readonly string[];
}

/** Frames are cut off far below the limit of the real network, so that a hundred timers are many. */
async function begin(): Promise<Story> {
  const story = await Story.begin({ members });
  story.cluster.cables.frameBytesMax = 4 * MiB;
  // 1 Gbit/s.
  story.cluster.cables.bytesPerMs = 125_000;
  return story;
}

function numberOf(id: string): string {
  return id.slice(0, 16);
}

interface Outcome {
  readonly id: string;
  readonly copies: string;
}

/** Timers that are set by one request. */
async function setAtOnce(story: Story, count: number, wish: Partial<Wish>): Promise<Outcome[]> {
  const content = Array.from({ length: count }, () => timerBody({ seconds: 600, opaque, ...wish }));
  const { body } = await story.request({ method: 'POST', path: '/timers/batch', content });
  return JSON.parse(body) as Outcome[];
}

/** A hundred timers, with two copies each, at the beginning of their time. */
async function setHundred(story: Story, wish: Partial<Wish>): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let i = 0; i < 5; i++) outcomes.push(...(await setAtOnce(story, 20, wish)));
  return outcomes;
}

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

test.each([1000, 100, 7])(
  'large timers: a list in pages of %d shows every timer once (64 KiB, R=2)',
  async (limit) => {
    const story = await begin();
    const timers = await setHundred(story, {});
    const numbers = await listAll(story, limit);
    expect(numbers.toSorted()).toEqual(timers.map(({ id }) => numberOf(id)).toSorted());
  },
);

interface Reader {
  pages: number;
  /** Members that did not answer. */
  readonly missing: string[];
}

interface Reading {
  readonly limit: number;
  readonly via: string;
  /** Between two pages. */
  readonly thinkMs: number;
}

/** Lists all timers again and again, one page after the other, while the story goes on. */
function keepReading(story: Story, { limit, via, thinkMs }: Reading): Reader {
  const reader: Reader = { pages: 0, missing: [] };
  const read = (cursor: string | null): void => {
    const from = cursor === null ? '' : `&cursor=${cursor}`;
    story.send({ method: 'GET', path: `/timers?limit=${limit}${from}`, via }, (answer) => {
      reader.pages++;
      const page = JSON.parse(answer?.body ?? '') as Page;
      reader.missing.push(...page.missing);
      story.cluster.world.after(thinkMs, () => read(page.cursor));
    });
  };
  read(null);
  return reader;
}

/** Calls of the same pop after the first. */
function doubles(story: Story): string[] {
  const seen = new Set<string>();
  return story.cluster.receivers.calls.flatMap(({ popId }) => {
    if (seen.has(popId)) return [popId];
    seen.add(popId);
    return [];
  });
}

test.each([100, 1000])(
  'large timers: readers of pages of %d make no pop double, and no peer silent (64 KiB, R=2, n=1 s, 40 Mbit/s)',
  async (limit) => {
    const story = await begin();
    const { cables, receivers } = story.cluster;
    const timers = await setHundred(story, { seconds: 1, times: 4 });
    cables.frameBytesMax = 32 * MiB;
    cables.bytesPerMs = 5000;
    const readers = members.map((name) => keepReading(story, { limit, via: name, thinkMs: 20 }));
    await story.pass(6);
    expect(doubles(story)).toEqual([]);
    expect(receivers.calls).toHaveLength(timers.length * 4);
    for (const reader of readers)
      expect(reader).toEqual({ pages: expect.any(Number), missing: [] });
  },
);

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

/** Members get no processor for up to `spanMs`, up to `gapMs` apart. */
function keepStalling(story: Story, random: SeededRandom, spanMs: number, gapMs: number): void {
  const { cluster } = story;
  const stall = (name: string, own: SeededRandom): void => {
    const forMs = own.unit() * spanMs;
    cluster.member(name).stall(forMs);
    cluster.world.after(forMs + 100 + own.unit() * gapMs, () => stall(name, own));
  };
  for (const name of members) stall(name, random.fork());
}

/** Sets ten timers again and again; the outcomes of all. */
function keepSetting(story: Story, everyMs: number): Outcome[] {
  const outcomes: Outcome[] = [];
  const content = Array.from({ length: 10 }, () => timerBody({ seconds: 600, opaque }));
  const set = (i: number): void => {
    const via = members[i % members.length];
    story.send({ method: 'POST', path: '/timers/batch', content, via }, (answer) => {
      outcomes.push(...(JSON.parse(answer?.body ?? '[]') as Outcome[]));
    });
    story.cluster.world.after(everyMs, () => set(i + 1));
  };
  set(0);
  return outcomes;
}

test.each([
  { seed: 2, spanMs: 300 },
  { seed: 3, spanMs: 1000 },
])(
  'large timers: slow readers, sets of megabytes and members without a processor for up to $spanMs ms: no pop twice, none after 2n (64 KiB, R=2, n=3 s, 40 Mbit/s)',
  async ({ seed, spanMs }) => {
    const story = await Story.begin({ members, seed });
    const { cables, receivers, world } = story.cluster;
    const before = world.nowMs;
    const timers = await setAtOnce(story, 30, { seconds: 3, times: 3 });
    const setMs = world.nowMs;
    cables.bytesPerMs = 5000;
    const readers = members.map((name) =>
      keepReading(story, { limit: 1000, via: name, thinkMs: 300 }),
    );
    const set = keepSetting(story, 600);
    keepStalling(story, new SeededRandom(seed), spanMs, 2000);
    await story.pass(13);
    const ids = new Set(timers.map(({ id }) => numberOf(id)));
    const calls = receivers.calls.filter(({ popId }) => ids.has(numberOf(popId)));
    expect(doubles(story)).toEqual([]);
    expect(calls).toHaveLength(timers.length * 3);
    const late = calls.filter(({ sequence, startMs }) => startMs > setMs + sequence * 3000 + 3000);
    expect(late).toEqual([]);
    expect(setMs - before).toBeLessThan(1000);
    expect(set.length).toBeGreaterThan(100);
    for (const { pages } of readers) expect(pages).toBeGreaterThan(5);
    expect(story.bugs).toEqual([]);
  },
);

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
