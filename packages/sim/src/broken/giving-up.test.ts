/** A test of the tests: a member that gives pops up when it must not, or loses their dead letters, breaks a promise. */
import { expect } from 'vitest';
import { Story } from '../story.ts';
import { wellMannered } from '../world/receivers.ts';
import { givingUp } from './giving-up.ts';
import { everyVariantIsNoticed } from './noticing.contract.ts';

const three = ['m0', 'm1', 'm2'];
const no = { does: 'answer', status: 500, afterMs: 1 } as const;
const once = { 'max-attempts': 1 };

/** Whether the receiver took a callback of the timer. */
function isTaken(story: Story, id: string): boolean {
  return story.calls(id).some(({ effectMs }) => effectMs !== null);
}

/**
 * Two requests to send a letter again: one is carried out by a member that has read the letter before the other
 * delivered it.
 */
async function resentTwice(momentMs: number): Promise<{ story: Story; taken: number }> {
  const story = await Story.begin({ members: three });
  const { cables, receivers } = story.cluster;
  receivers.behave('r0', no);
  const { id } = await story.set({ seconds: 5, retry: once });
  await story.until(8);
  const [letter] = await story.deadLetters();
  const holds = (name: string): boolean => story.record(letter?.id ?? '', name) !== undefined;
  receivers.behave('r0', wellMannered);
  const path = `/dead-letters/${letter?.id}/redeliver`;
  // The words of the holders are on the way for so long that the letter can be delivered meanwhile.
  cables.delayMs = 100;
  const late = three.find((name) => !holds(name));
  story.send({ method: 'POST', path, via: late }, () => undefined);
  await story.pass(momentMs / 1000);
  cables.delayMs = 1;
  await story.ask('POST', path, three.find(holds));
  await story.pass(60);
  return { story, taken: story.calls(id).filter(({ effectMs }) => effectMs !== null).length };
}

everyVariantIsNoticed(givingUp, {
  // P2: taken by the receiver, or a letter.
  'a letter whose redelivery failed is gone': async () => {
    const story = await Story.begin({ members: three });
    story.cluster.receivers.behave('r0', no);
    const { id } = await story.set({ seconds: 5, retry: once });
    await story.until(6);
    const [letter] = await story.deadLetters();
    await story.ask('POST', `/dead-letters/${letter?.id}/redeliver`);
    await story.until(60);
    const letters = await story.deadLetters();
    return { story, kept: isTaken(story, id) || letters.length === 1 };
  },
  // Each attempt that a letter tells of was a request to the receiver: "a callback that was not made is no attempt".
  'a call that never left counts as an attempt': async () => {
    const story = await Story.begin({ members: ['m0'] });
    story.cluster.receivers.behave('r0', { does: 'refuse' });
    for (let i = 0; i < 40; i++) await story.set({ seconds: 1, factor: 1 });
    await story.until(4);
    story.cluster.receivers.behave('r0', wellMannered);
    const retry = { 'max-attempts': 3, base: 0.3 };
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) {
      ids.push((await story.set({ seconds: 0.1, factor: 1, retry })).id);
    }
    await story.until(60);
    return { story, kept: ids.every((id) => isTaken(story, id)) };
  },
  // "limit: seconds after the first attempt in which others may follow": the member was down when the pop fell due.
  'the time limit of retries counts from the due time': async () => {
    const story = await Story.begin({ members: ['m0'] });
    const { id } = await story.set({ seconds: 5, factor: 1, retry: { limit: 10, base: 1 } });
    await story.until(4);
    story.cluster.member('m0').crash({ power: false, wipe: false });
    story.cluster.receivers.behave('r0', no);
    await story.until(60);
    story.cluster.member('m0').start();
    await story.until(62);
    story.cluster.receivers.behave('r0', wellMannered);
    await story.until(100);
    return { story, kept: isTaken(story, id) && (await story.deadLetters()).length === 0 };
  },
  // P5: one of two requests to send a letter again is carried out when the letter has been delivered.
  'each request to send a letter again has a version of its own': async () => {
    let kept = true;
    for (const momentMs of [60, 80, 105, 120, 140, 160]) {
      const { story, taken } = await resentTwice(momentMs);
      expect(story.bugs).toEqual([]);
      kept &&= taken === 1;
    }
    return { story: null, kept };
  },
  // P2, with room for one letter.
  'a full letter box drops the pop': async () => {
    const config = new Map([['namespaces', { '*': { letterCountMax: 1 } }]]);
    const story = await Story.begin({ members: ['m0'], config });
    story.cluster.receivers.behave('r0', no);
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      ids.push((await story.set({ seconds: 2 + i, factor: 1, retry: once, opaque: `${i}` })).id);
    }
    await story.until(20);
    story.cluster.receivers.behave('r0', wellMannered);
    await story.until(200);
    const letters = (await story.deadLetters()).map(({ callback }) => callback.http.opaque);
    const kept = ids.every((id, i) => isTaken(story, id) || letters.includes(`${i}`));
    return { story, kept };
  },
});
