/** Stories for tests: members that get no processor for seconds. */
import { SeededRandom } from '@carillon/core/testing';
import { Story } from '../../src/story.ts';

const three = ['m0', 'm1', 'm2'];
/** Timers are set for five minutes; the last ones have popped by then. */
const endSeconds = 330;

/** The second replica calls while the first gets no processor, and gets none itself before it can tell. */
export async function lateNews() {
  const { story, id } = await bothStall();
  await story.pass(30);
  return { story, calls: story.calls(id) };
}

/** As `lateNews`; and while it waits for an answer, the first gets no processor again until the wait is over. */
export async function lateNewsAndAsleep() {
  const { story, id, first } = await bothStall();
  // When it goes on, an earlier question is given up first, and this one with it.
  await story.until(11.1);
  story.cluster.member(first).stall(1000);
  await story.pass(30);
  return { story, calls: story.calls(id) };
}

async function bothStall() {
  const story = await Story.begin({ members: three });
  story.cluster.receivers.behave('r0', { does: 'answer', status: 200, afterMs: 500 });
  const { id, replicas } = await story.set({ seconds: 5 });
  const [first = '', second = ''] = replicas;
  await story.until(4.9);
  // It wakes up to the claim of the second, holds back for it, and asks at 11 s.
  story.cluster.member(first).stall(3500);
  await story.until(7.3);
  story.cluster.member(second).stall(4900);
  return { story, id, first };
}

/**
 * The first replica calls in time, and gets no processor before it can tell; the second held back, and has heard
 * nothing since.
 */
export async function toldLate() {
  const story = await Story.begin({ members: three });
  story.cluster.receivers.behave('r0', { does: 'answer', status: 200, afterMs: 500 });
  const { id, replicas } = await story.set({ seconds: 10 });
  await story.until(10.2);
  story.cluster.member(replicas[0] ?? '').stall(4500);
  await story.pass(30);
  return { story, calls: story.calls(id) };
}

/** Timers of 4 to 6 s with two copies, set all the while at any of three members that get no processor for moments. */
export async function starve(seed: number, spanMs: number, gapMs: number) {
  const random = new SeededRandom(seed);
  const story = await Story.begin({ members: three, seed });
  keepStarving(story, random, { spanMs, gapMs });
  await story.until(endSeconds);
  return seenIn(story);
}

/**
 * As `starve`, on etcd; and one member after the other is told to stop, and started again up to 2.8 s later. The first
 * pop that is repeated ends the story.
 */
export async function starveAndRestart(seed: number, spanMs: number, gapMs: number) {
  const story = await Story.begin({ members: three, seed, etcd: true });
  const { cluster } = story;
  const random = new SeededRandom(seed);
  const restart = (own: SeededRandom): void => {
    const member = cluster.member(own.pick(three));
    if (member.member === null) return void cluster.world.after(1000, () => restart(own));
    const stopped = (): void => {
      cluster.world.after(300 + own.unit() * 2500, () => member.start());
      cluster.world.after(5000 + own.unit() * 6000, () => restart(own));
    };
    member.stop().then(stopped, stopped);
  };
  cluster.world.after(2000, () => restart(random.fork()));
  keepStarving(story, random, { spanMs, gapMs });
  let seen = seenIn(story);
  while (seen.calls === seen.pops && story.seconds < endSeconds) {
    await story.pass(10);
    seen = seenIn(story);
  }
  return seen;
}

function keepStarving(
  story: Story,
  random: SeededRandom,
  { spanMs, gapMs }: { readonly spanMs: number; readonly gapMs: number },
): void {
  const { world } = story.cluster;
  const stall = (name: string, own: SeededRandom): void => {
    const forMs = own.unit() * spanMs;
    story.cluster.member(name).stall(forMs);
    world.after(forMs + 100 + own.unit() * gapMs, () => stall(name, own));
  };
  for (const name of three) stall(name, random.fork());
  for (let i = 0; i < 600; i++) {
    world.after(i * 500, () => setOne(story, random.pick(three), 4 + 2 * random.unit()));
  }
}

function seenIn(story: Story): { readonly calls: number; readonly pops: number } {
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  const { calls } = story.cluster.receivers;
  return { calls: calls.length, pops: new Set(calls.map(({ popId }) => popId)).size };
}

function setOne(story: Story, member: string, interval: number): void {
  const timer = {
    timing: { interval, 'repeat-for': interval * 3.5 },
    callback: { http: { uri: 'http://r0/pop', opaque: '' } },
    reliability: { 'replication-factor': 2 },
  };
  const request = {
    method: 'POST',
    path: '/timers',
    query: '',
    headers: {},
    body: Buffer.from(JSON.stringify(timer)),
  };
  const sentMs = story.cluster.world.nowMs;
  const attempt = { member, sentMs, arrivedMs: null, settledMs: null, status: null };
  story.cluster.send(attempt, request, () => undefined);
}
