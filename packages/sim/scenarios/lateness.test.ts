/**
 * docs/metrics.md, lateness: it tells how late a member is. Pops that are late because of their receiver are counted
 * apart.
 */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';
import { wellMannered } from '../src/world/receivers.ts';

const three = ['m0', 'm1', 'm2'];

interface Counts {
  /** Pops that were on time, by half a second. */
  readonly onTime: number;
  readonly all: number;
}

/** The histogram over all members. */
async function counts(story: Story, name: string): Promise<Counts> {
  let onTime = 0;
  let all = 0;
  for (const via of three) {
    const { body } = await story.ask('GET', '/metrics', via);
    const valueOf = (series: string): number =>
      Number(
        body
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.slice(series.length),
      );
    onTime += valueOf(`${name}_bucket{le="0.5"}`);
    all += valueOf(`${name}_count`);
  }
  return { onTime, all };
}

const ofMembers = 'carillon_pop_lateness_seconds';
const ofReceivers = 'carillon_pop_receiver_lateness_seconds';

test('pops to a receiver that refuses, and pops after its return, make no member late (R=2)', async () => {
  const story = await Story.begin({ members: three });
  const { receivers } = story.cluster;
  receivers.behave('r1', { does: 'refuse' });
  for (let i = 0; i < 5; i++) await story.set({ seconds: 1, times: 1000 });
  for (let i = 0; i < 3; i++)
    await story.set({ seconds: 5, times: 1000, receiver: 'r1', retry: { 'max-attempts': 1 } });
  await story.pass(120);
  receivers.behave('r1', wellMannered);
  await story.pass(30);
  const late = await counts(story, ofReceivers);
  expect(late.all - late.onTime).toBeGreaterThan(10);
  const own = await counts(story, ofMembers);
  expect(own.all).toBeGreaterThan(700);
  expect(own.onTime).toBe(own.all);
});

test('pops that wait because their receiver is at its limit make no member late (R=2)', async () => {
  const config = new Map([['callbacks.inFlightPerDestinationMax', 2]]);
  const story = await Story.begin({ members: three, config });
  story.cluster.receivers.behave('r1', { does: 'answer', status: 200, afterMs: 800 });
  for (let i = 0; i < 40; i++) await story.set({ seconds: 10, receiver: 'r1' });
  for (let i = 0; i < 5; i++) await story.set({ seconds: 1, times: 20 });
  await story.pass(30);
  const late = await counts(story, ofReceivers);
  expect(late.all - late.onTime).toBeGreaterThan(10);
  const own = await counts(story, ofMembers);
  expect(own.all).toBeGreaterThanOrEqual(100);
  expect(own.onTime).toBe(own.all);
});

test('pops of a member that is gone are late at the members that make them (R=2)', async () => {
  const story = await Story.begin({ members: three });
  for (let i = 0; i < 12; i++) await story.set({ seconds: 10 });
  story.cluster.restartMs = 1_000_000;
  await story.pass(1);
  story.cluster.member('m2').crash({ power: true, wipe: false });
  await story.pass(20);
  const { body } = await story.ask('GET', '/metrics', 'm0');
  expect(body).toContain(`${ofReceivers}_count 0`);
  const { members } = JSON.parse((await story.ask('GET', '/cluster', 'm0')).body) as {
    readonly members: readonly { readonly load: { readonly 'lateness-p99-ms': number } | null }[];
  };
  const worst = Math.max(...members.map(({ load }) => load?.['lateness-p99-ms'] ?? 0));
  expect(worst).toBeGreaterThan(1900);
});
