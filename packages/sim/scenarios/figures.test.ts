/**
 * docs/dashboard.md, figures: timers and dead letters of the cluster are one number each, in `/cluster`, in lists and
 * at the doctor, also while a member is gone.
 */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';

const three = ['m0', 'm1', 'm2'];
const timerCount = 9;

interface Member {
  readonly primaries: number | null;
  readonly 'dead-letters': number | null;
  readonly retrying: number | null;
}

async function figures(story: Story, via: string) {
  const asked = async (path: string) => JSON.parse((await story.ask('GET', path, via)).body);
  const { members } = (await asked('/cluster')) as { members: readonly Member[] };
  const sum = (read: (member: Member) => number | null): number =>
    members.reduce((all, member) => all + (read(member) ?? 0), 0);
  const { total } = (await asked('/timers?total=true')) as { total: { count: number } };
  const letters = (await asked('/dead-letters/summary')) as { total: number };
  const { findings } = (await asked('/doctor')) as { findings: readonly { says: string }[] };
  const told = findings.find(({ says }) => says.includes('dead letters'))?.says ?? '';
  return {
    timers: [sum(({ primaries }) => primaries), total.count],
    letters: [sum((member) => member['dead-letters']), letters.total, Number.parseInt(told)],
    retrying: sum(({ retrying }) => retrying),
  };
}

test('figures of the cluster stay the same when a member is gone (R=2, R=3)', async () => {
  const story = await Story.begin({ members: three });
  story.cluster.receivers.behave('r0', { does: 'answer', status: 503, afterMs: 1 });
  for (let i = 0; i < timerCount; i++) {
    const factor = i % 2 === 0 ? 2 : 3;
    await story.set({ seconds: 1, factor, retry: { 'max-attempts': 1 } });
    await story.set({ seconds: 1, factor, retry: { base: 1000, 'max-wait': 1000 } });
    await story.set({ seconds: 3600, factor });
  }
  await story.pass(5);
  const all = {
    timers: [2 * timerCount, 2 * timerCount],
    letters: [timerCount, timerCount, timerCount],
    retrying: timerCount,
  };
  expect(await figures(story, 'm0')).toEqual(all);
  story.cluster.restartMs = 1_000_000;
  story.cluster.member('m2').crash({ power: true, wipe: false });
  await story.pass(5);
  expect(await figures(story, 'm0')).toEqual(all);
});

test('every member tells the same instants of a set and of an end, after a restart too (R=2)', async () => {
  const story = await Story.begin({ members: three });
  story.cluster.cables.delayMs = 40;
  story.cluster.receivers.behave('r0', { does: 'answer', status: 503, afterMs: 7 });
  const ended = await story.set({ seconds: 1, retry: { 'max-attempts': 1 } });
  const pending = await story.set({ seconds: 3600 });
  await story.pass(5);
  const told = async (): Promise<ReadonlySet<string>> => {
    const texts = new Set<string>();
    for (const via of three) {
      for (const { id } of [ended, pending]) {
        const { body } = await story.ask('GET', `/timers/${id}`, via);
        const shown = JSON.parse(body) as Record<string, unknown>;
        texts.add(JSON.stringify(['set', 'next-due', 'ended-at'].map((name) => shown[name])));
      }
    }
    return texts;
  };
  const before = await told();
  expect(before.size).toBe(2);
  for (const name of three) story.cluster.member(name).crash({ power: false, wipe: false });
  for (const name of three) story.cluster.member(name).start();
  await story.pass(10);
  expect(await told()).toEqual(before);
});
