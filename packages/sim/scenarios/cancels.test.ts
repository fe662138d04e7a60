/**
 * P6: "A late or replayed message, a member that was away, a net-split that heals: none of them brings back a cancelled
 * timer or an older version."
 */
import { compileTargets } from '@carillon/placement';
import { expect, test } from 'vitest';
import { Story, timerBody } from '../src/story.ts';
import { returnsOverdue } from './told/returns-overdue.ts';

const three = ['m0', 'm1', 'm2'];

test('cancel: it reaches all replicas before it is acknowledged (R=3)', async () => {
  const story = await Story.begin({ members: three });
  const { id } = await story.set({ seconds: 10, factor: 3 });
  expect(story.holders(id)).toEqual(three);
  expect((await story.cancel(id, 'm2')).status).toBe(200);
  expect(story.holders(id)).toEqual([]);
  await story.until(30);
  expect(story.pops(id)).toEqual([]);
});

test('cancel: a replica that was cut off learns of it when the split heals (R=3)', async () => {
  const story = await Story.begin({ members: three });
  const { id, replicas } = await story.set({ seconds: 60, factor: 3 });
  const [a = '', b = '', c = ''] = replicas;
  const mends = [story.part(a, b), story.part(a, c)];
  await story.until(10);
  expect((await story.cancel(id, b)).status).toBe(200);
  expect(story.holders(id)).toEqual([a]);
  await story.until(30);
  for (const mend of mends) mend();
  await story.until(36);
  expect(story.holders(id)).toEqual([]);
  await story.until(200);
  expect(story.pops(id)).toEqual([]);
});

test.each([5, 70, 900])(
  'cancel: a member that was down for %d s returns with the timer on its disk (R=2)',
  async (downSeconds) => {
    const story = await Story.begin({ members: three });
    const { id, replicas } = await story.set({ seconds: 1000, factor: 2 });
    const [a = '', b = ''] = replicas;
    await story.until(10);
    story.cluster.member(a).crash({ power: true, wipe: false });
    await story.until(11);
    expect((await story.cancel(id, b)).status).toBe(200);
    await story.until(10 + downSeconds);
    story.cluster.member(a).start();
    await story.pass(90);
    expect(story.holders(id)).toEqual([]);
    await story.until(2500);
    expect(story.pops(id)).toEqual([]);
  },
);

test('cancel: a member returns just when the cancelled timer would be overdue, and asks before it pops (R=2)', async () => {
  const { story, id } = await returnsOverdue();
  expect(story.pops(id)).toEqual([]);
});

test.each([1, 2])(
  'cancel: all replicas were down and others stood in; a replica that comes back overdue asks the stand-ins too (R=%d)',
  async (factor) => {
    const story = await Story.begin({ members: ['m0', 'm1', 'm2', 'm3'] });
    const { id, replicas } = await story.set({ seconds: 20, factor });
    for (const name of replicas) story.cluster.member(name).crash({ power: true, wipe: false });
    await story.until(5);
    const [via = ''] = story.cluster.healthy.map(({ name }) => name);
    expect((await story.cancel(id, via)).status).toBe(200);
    await story.until(40);
    story.cluster.member(replicas[0] ?? '').start();
    await story.until(120);
    expect(story.pops(id)).toEqual([]);
    expect(story.holders(id)).toEqual([]);
  },
);

test('replace: it crosses a pop; the older version never pops again (R=2)', async () => {
  const story = await Story.begin({ members: three });
  const first = await story.set({ seconds: 2, times: 10, opaque: 'old' });
  // The answer is on its way when the timer is replaced: the outcome of the pop must not undo it.
  story.cluster.receivers.behave('r0', { does: 'answer', status: 200, afterMs: 500 });
  await story.until(2.1);
  await story.replace(first.id, { seconds: 5, times: 2, opaque: 'new' });
  await story.until(30);
  expect(story.calls(first.id).map(({ body, sequence }) => [body, sequence])).toEqual([
    ['old', 1],
    ['new', 1],
    ['new', 2],
  ]);
});

test('replace: the callback of the older version hangs; the newer one pops in time all the same (R=3)', async () => {
  const story = await Story.begin({ members: three });
  story.cluster.receivers.behave('r1', { does: 'hang' });
  const { id } = await story.set({
    seconds: 1,
    times: 5,
    factor: 3,
    receiver: 'r1',
    opaque: 'old',
  });
  await story.until(1.2);
  await story.replace(id, { seconds: 0.5, times: 3, factor: 3, receiver: 'r0', opaque: 'new' });
  const replacedAt = story.seconds;
  await story.pass(2.5);
  const calls = story.calls(id).filter(({ body }) => body === 'new');
  expect(calls.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  for (const { startMs, sequence } of calls) {
    expect(startMs / 1000 - 5 - replacedAt).toBeLessThan(0.5 * sequence + 0.1);
  }
});

test('replace: in a net-split by a member whose clock is behind; it wins when the split heals (R=3)', async () => {
  const story = await Story.begin({ members: three });
  // Past the minutes in which the members learn each other's clocks.
  story.cluster.member('m2').clock.wallOffsetMs = -4000;
  await story.pass(120);
  const { id } = await story.set({ seconds: 300, factor: 3, opaque: 'old' }, 'm0');
  const mends = [story.part('m2', 'm0'), story.part('m2', 'm1')];
  await story.pass(2);
  // By another client: its version says nothing of the first one's.
  story.forget();
  await story.replace(id, { seconds: 200, factor: 3, opaque: 'new' }, 'm2');
  await story.pass(10);
  for (const mend of mends) mend();
  await story.pass(30);
  for (const via of three) {
    expect((await story.shown(id, via))?.['callback']).toMatchObject({ http: { opaque: 'new' } });
  }
});

test('net-split: both sides pop, with equal id, sequence and body; once it heals, one does (R=2)', async () => {
  const story = await Story.begin({ members: ['m0', 'm1'] });
  const { id } = await story.set({ seconds: 10, times: 5, opaque: 'bell' });
  await story.until(15);
  const mend = story.part('m0', 'm1');
  await story.until(25);
  mend();
  await story.until(60);
  const calls = story.calls(id);
  expect(calls.map(({ sequence }) => sequence)).toEqual([1, 2, 2, 3, 4, 5]);
  const [one, two] = calls.filter(({ sequence }) => sequence === 2);
  expect(one?.popId).toBe(two?.popId);
  expect(one?.body).toBe(two?.body);
  expect(one?.by).not.toBe(two?.by);
});

test('cancel: its record goes to a stand-in, and the word that the replica missed it is lost: the replica hears of it all the same (R=1)', async () => {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
  const { cluster } = story;
  const { id, replicas } = await story.set({ seconds: 4, times: 3, factor: 1 });
  const [replica = ''] = replicas;
  const { hi, lo } = story.record(id, replica) ?? { hi: 0, lo: 0 };
  const ranked = compileTargets(['m0', 'm1', 'm2']).rank({ hi, lo });
  const [, standIn = '', asked = ''] = ranked.map(({ name }) => name);
  const statuses: unknown[] = [];
  const mendReplica = cluster.cables.cut(asked, replica);
  const attempt = { member: asked, sentMs: 0, arrivedMs: null, settledMs: null, status: null };
  const headers = { 'carillon-namespace': 'default' };
  const path = `/timers/${id}`;
  const request = { method: 'DELETE', path, query: '', headers, body: new Uint8Array() };
  cluster.send(attempt, request, (answer) => statuses.push(answer?.status));
  for (let i = 0; i < 2000 && story.record(id, standIn) === undefined; i++)
    await story.pass(0.0005);
  const mendStandIn = cluster.cables.cut(asked, standIn);
  await story.pass(0.5);
  expect(statuses).toEqual([200]);
  mendReplica();
  mendStandIn();
  await story.until(30);
  expect(story.pops(id)).toEqual([]);
  expect(story.bugs).toEqual([]);
});

test('cancel by tag: it cancels the timers that answering members know, though one is down (R=2)', async () => {
  const story = await Story.begin({ members: three });
  story.cluster.restartMs = 1_000_000;
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
  const ids = numbers.map((number) => `${number.toString(16).padStart(16, '0')}-2`);
  for (const id of ids) {
    const content = { ...timerBody({ seconds: 60 }), tags: ['t'] };
    await story.request({ method: 'PUT', path: `/timers/${id}`, content, via: 'm0' });
  }
  story.cluster.member('m1').crash({ power: true, wipe: false });
  await story.pass(5);
  const cancel = { method: 'DELETE', path: '/timers?tag=t', via: 'm0' };
  const refused = await story.request(cancel);
  expect(refused.status).toBe(503);
  expect(refused.body).toContain('12 are gone. No answer came from m1');
  await story.until(200);
  expect(ids.flatMap((id) => story.pops(id))).toEqual([]);
  story.cluster.member('m1').start();
  await story.pass(5);
  expect((await story.request(cancel)).status).toBe(200);
  expect(story.bugs).toEqual([]);
});
