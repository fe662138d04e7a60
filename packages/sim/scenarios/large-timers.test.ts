/**
 * Timers whose opaque is as long as is allowed. Everything that members send each other is bounded in bytes, so that
 * large timers are confirmed, listed and popped as small ones are, and reading them slows no other work (P1, P5).
 */
import { expect, test } from 'vitest';
import { Story, timerBody, type Wish } from '../src/story.ts';
import { viewMember } from '../src/world/views.ts';

const members = ['m0', 'm1', 'm2'];
const KiB = 1024;
const MiB = 1024 * KiB;
/** Between two pages of a reader. */
const thinkMs = 20;
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

/** Lists all timers again and again, one page after the other, while the story goes on. */
function keepReading(story: Story, limit: number, via: string): Reader {
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
    const readers = members.map((name) => keepReading(story, limit, name));
    await story.pass(6);
    expect(doubles(story)).toEqual([]);
    expect(receivers.calls).toHaveLength(timers.length * 4);
    for (const reader of readers)
      expect(reader).toEqual({ pages: expect.any(Number), missing: [] });
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
