/**
 * P5: reading large timers again and again, setting megabytes of them, and having no processor for moments make no pop
 * double and none late.
 */
import { SeededRandom } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { Story, timerBody } from '../../src/story.ts';
import {
  begin,
  members,
  MiB,
  numberOf,
  opaque,
  type Outcome,
  type Page,
  setAtOnce,
  setHundred,
} from '../told/large-timers.ts';

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
