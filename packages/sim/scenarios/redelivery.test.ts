/** P2 and P5: redelivering a dead letter is one pop with the letter's sequence, for every kind of timing. */
import { expect, test } from 'vitest';
import { wellMannered } from '../src/world/receivers.ts';
import { Story, type StoryLetter } from '../src/story.ts';

const three = ['m0', 'm1', 'm2'];
const no = { does: 'answer', status: 503, afterMs: 1 } as const;
const retry = { 'max-attempts': 1 };
const seconds = 60;

const recurring = [
  { kind: 'that repeats', timing: { interval: seconds, 'repeat-for': 6000 } },
  { kind: 'without an end', timing: { interval: seconds, forever: true } },
  { kind: 'by cron', timing: { cron: '* * * * *', forever: true } },
];

/** The first pop of a timer was given up; its receiver is well again. */
async function withLetter(timing: object) {
  const story = await Story.begin({ members: three });
  const timer = await story.set({ seconds, timing, retry });
  story.cluster.receivers.behave('r0', no);
  await story.pass(seconds + 5);
  story.cluster.receivers.behave('r0', wellMannered);
  const letters = await story.deadLetters();
  expect(letters).toHaveLength(1);
  return { story, timer, letter: letters[0] as StoryLetter };
}

function sequences(story: Story, id: string, from: number): number[] {
  return story
    .calls(id)
    .slice(from)
    .map(({ sequence }) => sequence);
}

test.each(recurring)(
  'redelivery: one callback for the letter of a timer $kind, beside its series (R=2)',
  async ({ timing }) => {
    const { story, timer, letter } = await withLetter(timing);
    const before = story.calls(timer.id).length;
    await story.ask('POST', `/dead-letters/${letter.id}/redeliver`, 'm2');
    await story.pass(5 * seconds);
    expect(sequences(story, timer.id, before)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await story.deadLetters('m1')).toEqual([]);
    expect(story.bugs).toEqual([]);
  },
);

test.each(recurring)(
  'redelivery: one callback for the letter of a cancelled timer $kind, also when its members restart (R=2)',
  async ({ timing }) => {
    const { story, timer, letter } = await withLetter(timing);
    await story.cancel(timer.id);
    const before = story.calls(timer.id).length;
    await story.ask('POST', `/dead-letters/${letter.id}/redeliver`, 'm2');
    await story.pass(seconds);
    for (const name of three) story.cluster.member(name).crash({ power: true, wipe: false });
    for (const name of three) story.cluster.member(name).start();
    await story.pass(5 * seconds);
    expect(sequences(story, timer.id, before)).toEqual([1]);
    expect(await story.deadLetters('m1')).toEqual([]);
  },
);

test('redelivery: a failure makes it a letter again, and the next redelivery one more callback (R=2)', async () => {
  const { story, timer, letter } = await withLetter({ interval: seconds, forever: true });
  await story.cancel(timer.id);
  story.cluster.receivers.behave('r0', no);
  await story.ask('POST', `/dead-letters/${letter.id}/redeliver`, 'm1');
  await story.pass(10);
  expect(await story.deadLetters()).toMatchObject([{ sequence: 1, attempts: 2 }]);
  story.cluster.receivers.behave('r0', wellMannered);
  await story.ask('POST', `/dead-letters/${letter.id}/redeliver`, 'm0');
  await story.pass(5 * seconds);
  expect(sequences(story, timer.id, 0)).toEqual([1, 1, 1]);
  expect(await story.deadLetters()).toEqual([]);
});

/** From before the holders have told of the letter until after they have. */
const momentsMs = [60, 80, 105, 120, 140, 160];

test.each(momentsMs)(
  'redelivery: a request that a member carries out when another one has delivered the letter makes no second callback (R=2, %d ms)',
  async (momentMs) => {
    const { story, timer, letter } = await withLetter({ interval: seconds, forever: true });
    await story.cancel(timer.id);
    const before = story.calls(timer.id).length;
    const holder = three.find((name) => story.record(letter.id, name) !== undefined) ?? '';
    const late = three.find((name) => story.record(letter.id, name) === undefined) ?? '';
    const { cluster } = story;
    const attempt = { member: late, sentMs: 0, arrivedMs: null, settledMs: null, status: null };
    const headers = { 'carillon-namespace': 'default' };
    const path = `/dead-letters/${letter.id}/redeliver`;
    const statuses: unknown[] = [];
    const request = { method: 'POST', path, query: '', headers, body: new Uint8Array() };
    // The words of the holders are on the way for so long that the letter can be delivered meanwhile.
    cluster.cables.delayMs = 100;
    cluster.send(attempt, request, (answer) => statuses.push(answer?.status));
    await story.pass(momentMs / 1000);
    cluster.cables.delayMs = 1;
    await story.ask('POST', path, holder);
    await story.pass(seconds);
    expect(statuses).toHaveLength(1);
    expect(sequences(story, timer.id, before)).toEqual([1]);
  },
);
