/** docs/events.md: "Members that notice the same thing make one event, not one each." "Never the cause of another." */
import { expect, test } from 'vitest';
import { eventConfig, eventsAt, giveUpEverywhere, splitInHalves } from './told/events.ts';
import { Story, timerBody } from '../src/story.ts';
import { wellMannered } from '../src/world/receivers.ts';

const three = ['m0', 'm1', 'm2'];
const once = { 'max-attempts': 1 };
const no = { does: 'answer', status: 500, afterMs: 1 } as const;

test('letters of one receiver at every member are one event, made once (R=2)', async () => {
  const story = await Story.begin({ members: three, config: eventConfig({}) });
  await giveUpEverywhere(story, three);
  await story.until(30);
  expect((await story.deadLetters()).length).toBe(12);
  expect(eventsAt(story).map(({ body }) => (JSON.parse(body) as { type: string }).type)).toEqual([
    'dead-letter',
  ]);
  expect(story.bugs).toEqual([]);
});

test('both sides of a split tell of it under one name, and nothing more is told when it heals (R=2)', async () => {
  const { story, names, calls } = await splitInHalves();
  expect(calls).toBe(2);
  expect(names).toBe(1);
  expect(story.bugs).toEqual([]);
});

test('on-failure survives the death of the member that gave up (R=2)', async () => {
  const story = await Story.begin({ members: three });
  story.cluster.receivers.behave('r0', no);
  story.cluster.receivers.behave('told', { does: 'refuse' });
  const { timing, callback, reliability } = timerBody({ seconds: 5, retry: once, opaque: 'bell' });
  const told = { ...callback, 'on-failure': { uri: 'http://told/failed' } };
  const content = { timing, callback: told, reliability };
  await story.request({ method: 'POST', path: '/timers', content });
  await story.until(8);
  const [first] = eventsAt(story, 'told');
  expect(first?.effectMs).toBeNull();
  story.cluster.member(first?.by ?? '').crash({ power: true, wipe: true });
  story.cluster.receivers.behave('told', wellMannered);
  await story.until(60);
  const taken = eventsAt(story, 'told').filter(({ effectMs }) => effectMs !== null);
  expect(taken.map(({ by }) => by)).not.toContain(first?.by);
  expect(taken).toHaveLength(1);
  expect(JSON.parse(taken[0]?.body ?? '')).toMatchObject({ data: { opaque: 'bell' } });
});

test('a letter that is too old is dropped by one replica, with one event, and is gone everywhere (R=3)', async () => {
  const config = eventConfig({ letterAgeMsMax: 60_000 });
  const story = await Story.begin({ members: three, config });
  story.cluster.receivers.behave('r0', no);
  await story.set({ seconds: 5, factor: 3, retry: once });
  await story.until(60);
  expect(await story.deadLetters()).toHaveLength(1);
  await story.until(80);
  for (const name of three) expect(await story.deadLetters(name)).toEqual([]);
  const types = eventsAt(story).map(({ body }) => (JSON.parse(body) as { type: string }).type);
  expect(types).toEqual(['dead-letter', 'letter-dropped']);
});

test('letters over a number are dropped once each: one event and one entry of the audit for the cluster (R=2)', async () => {
  const story = await Story.begin({
    members: three,
    config: eventConfig({ letterKeptCountMax: 3 }),
  });
  await giveUpEverywhere(story, three);
  await story.until(120);
  const left = await story.deadLetters();
  for (const name of three) {
    const held = left.filter(({ replicas }) => replicas.includes(name));
    expect(held.length).toBeLessThanOrEqual(3);
  }
  const audit = await story.request({ method: 'GET', path: '/audit?action=drop&limit=100' });
  const { entries } = JSON.parse(audit.body) as { entries: { timer: string }[] };
  expect(entries).toHaveLength(12 - left.length);
  expect(new Set(entries.map(({ timer }) => timer)).size).toBe(12 - left.length);
  const types = eventsAt(story).map(({ body }) => (JSON.parse(body) as { type: string }).type);
  expect(types.filter((type) => type === 'letter-dropped')).toHaveLength(12 - left.length);
  expect(story.bugs).toEqual([]);
});
