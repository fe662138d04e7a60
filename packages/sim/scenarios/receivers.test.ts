/**
 * P2: "Every due pop of an acknowledged timer ends in a 2xx from the receiver or as a dead letter. A failing receiver
 * never ends a recurring timer."
 */
import { expect, test } from 'vitest';
import { wellMannered } from '../src/world/receivers.ts';
import { Story } from '../src/story.ts';

const three = ['m0', 'm1', 'm2'];
const no = { does: 'answer', status: 503, afterMs: 1 } as const;

test('retry: the receiver fails first and is back before the next pop (R=2)', async () => {
  const story = await Story.begin({ members: three });
  const { id } = await story.set({ seconds: 60, times: 3 });
  await story.until(59);
  story.cluster.receivers.behave('r0', no);
  await story.until(65);
  story.cluster.receivers.behave('r0', wellMannered);
  await story.until(200);
  const taken = story.calls(id).filter(({ effectMs }) => effectMs !== null);
  expect(taken.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  expect(story.calls(id)[0]?.result).toMatchObject({ status: 503 });
});

test('retry: it survives the death of the member that retries (R=2)', async () => {
  const story = await Story.begin({ members: three });
  const { id, replicas } = await story.set({ seconds: 10 });
  story.cluster.receivers.behave('r0', no);
  await story.until(12);
  const tried = story.calls(id).length;
  expect(tried).toBeGreaterThan(0);
  story.cluster.member(replicas[0] ?? '').crash({ power: true, wipe: true });
  story.cluster.receivers.behave('r0', wellMannered);
  await story.until(40);
  const taken = story.calls(id).filter(({ effectMs }) => effectMs !== null);
  expect(taken.map(({ by }) => by)).toEqual([replicas[1]]);
  expect(taken[0]?.attempt).toBeGreaterThan(1);
});

test('dead letter: it can be read at any member after the one that gave up is gone for good (R=2)', async () => {
  const story = await Story.begin({ members: three });
  const retry = { limit: 5, base: 0.5, 'max-wait': 1 };
  const { id } = await story.set({ seconds: 5, retry, opaque: 'bell' });
  story.cluster.receivers.behave('r0', no);
  await story.until(20);
  const last = story.calls(id).at(-1)?.by ?? '';
  story.cluster.member(last).crash({ power: true, wipe: true });
  for (const name of three.filter((other) => other !== last)) {
    const letters = await story.deadLetters(name);
    expect(letters.map(({ sequence, callback }) => [sequence, callback.http.opaque])).toEqual([
      [1, 'bell'],
    ]);
  }
  // And it can be sent again.
  story.cluster.receivers.behave('r0', wellMannered);
  const [via = ''] = three.filter((other) => other !== last);
  const [letter] = await story.deadLetters(via);
  const sent = await story.ask('POST', `/dead-letters/${letter?.id}/redeliver`, via);
  expect(sent.status).toBe(200);
  await story.pass(10);
  expect(story.calls(id).at(-1)).toMatchObject({ sequence: 1, body: 'bell' });
  expect(story.calls(id).at(-1)?.effectMs).not.toBeNull();
});

test.each([0.1, 1, 30])(
  'retry: only the backup can reach the receiver (n=%d s, R=2)',
  async (seconds) => {
    const story = await Story.begin({ members: three });
    const { id, replicas } = await story.set({ seconds, times: 5 });
    const [a = '', b = ''] = replicas;
    story.cluster.receivers.hide('r0', a);
    await story.pass(seconds * 7);
    const taken = story.calls(id).filter(({ effectMs }) => effectMs !== null);
    expect(taken.map(({ by, sequence }) => [by, sequence])).toEqual(
      [1, 2, 3, 4, 5].map((k) => [b, k]),
    );
    for (const { startMs, sequence } of taken) {
      expect(startMs / 1000 - 5).toBeLessThanOrEqual(seconds * (sequence + 1));
    }
  },
);

test('a slow receiver: the claim is renewed, and no second call is made (n=10 s, R=3)', async () => {
  const story = await Story.begin({ members: three });
  story.cluster.receivers.behave('r0', { does: 'answer', status: 200, afterMs: 4500 });
  const { id, replicas } = await story.set({ seconds: 10, times: 3, factor: 3 });
  await story.until(50);
  expect(story.pops(id).map(({ by, sequence }) => [by, sequence])).toEqual(
    [1, 2, 3].map((k) => [replicas[0], k]),
  );
});

test('a receiver that comes back: timers set from then on are delivered, though circuits are open (R=2)', async () => {
  const story = await Story.begin({ members: three });
  const { receivers } = story.cluster;
  const retry = { 'max-attempts': 3, base: 0.3 };
  receivers.behave('r0', { does: 'refuse' });
  for (let i = 0; i < 60; i++) await story.set({ seconds: 0.1, retry, opaque: 'first' });
  await story.pass(2);
  receivers.behave('r0', wellMannered);
  const ids: string[] = [];
  for (let i = 0; i < 50; i++) {
    const { id } = await story.set({ seconds: 0.1, retry, opaque: 'second' }, three[i % 3]);
    ids.push(id);
  }
  await story.pass(60);
  for (const id of ids) {
    expect(story.calls(id).filter(({ effectMs }) => effectMs !== null)).toHaveLength(1);
  }
  const dead = await story.deadLetters();
  expect(dead.filter(({ callback }) => callback.http.opaque === 'second')).toEqual([]);
  // A letter was really tried three times.
  for (const { attempts } of dead) expect(attempts).toBe(3);
  expect(story.bugs).toEqual([]);
});

test('a receiver that is away for ten minutes: a recurring timer that is never tried merges its pops, none is lost (R=2)', async () => {
  const story = await Story.begin({ members: three });
  const { receivers } = story.cluster;
  receivers.behave('r0', { does: 'refuse' });
  for (let i = 0; i < 60; i++) await story.set({ seconds: 1, opaque: 'crowd' });
  const { id } = await story.set({ seconds: 10, times: 200, opaque: 'series' });
  await story.pass(600);
  receivers.behave('r0', wellMannered);
  await story.pass(300);
  const ends = [
    ...story.calls(id).filter(({ effectMs }) => effectMs !== null),
    ...(await story.deadLetters()).filter(({ callback }) => callback.http.opaque === 'series'),
  ].toSorted((a, b) => a.sequence - b.sequence);
  const covered = ends.flatMap(({ sequence, missed }) =>
    Array.from({ length: missed + 1 }, (_, i) => sequence - missed + i),
  );
  expect(covered).toEqual(covered.map((_, i) => i + 1));
  expect(covered.length).toBeGreaterThan(60);
});

test('several pops in a request: each has its own outcome, and only the failed ones come again (R=2)', async () => {
  const config = new Map([['callbacks.inFlightPerDestinationMax', 1]]);
  const story = await Story.begin({ members: three, config });
  const { receivers } = story.cluster;
  receivers.togetherMax = 500;
  // By these every member hears that the receiver takes several.
  for (let i = 0; i < 12; i++) await story.set({ seconds: 5 });
  await story.until(10);
  // In one request, so that they are due at the same instant.
  const timer = { timing: { interval: 20 }, callback: { http: { uri: 'http://r0/pop' } } };
  const content = Array.from({ length: 60 }, () => ({ change: 'set', timer }));
  const answer = await story.request({ method: 'POST', path: '/timers/batch', content });
  const ids = (JSON.parse(answer.body) as { id: string }[]).map(({ id }) => id);
  receivers.behave('r0', { does: 'flap' });
  await story.pass(40);
  receivers.behave('r0', wellMannered);
  await story.pass(120);
  const calls = ids.map((id) => story.calls(id));
  expect(calls.map((all) => all.filter(({ effectMs }) => effectMs !== null).length)).toEqual(
    ids.map(() => 1),
  );
  const firsts = calls.map(([first]) => first);
  const requests = Map.groupBy(firsts, (call) => `${call?.by} ${call?.startMs}`);
  const mixed = [...requests.values()].filter(
    (lines) => new Set(lines.map((call) => call?.effectMs === null)).size === 2,
  );
  expect(mixed.length).toBeGreaterThan(0);
});
