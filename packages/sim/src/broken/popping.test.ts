/** A test of the tests: a member that calls when it must not, or mistakes the result of a call, breaks a promise. */
import { asksAgain } from '../../scenarios/told/asks-again.ts';
import { drainedWhileCalling } from '../../scenarios/told/drained-while-calling.ts';
import { returnsOverdue } from '../../scenarios/told/returns-overdue.ts';
import { sleepersFirst } from '../../scenarios/told/sleepers-first.ts';
import { slowAndLeftBehind } from '../../scenarios/told/slow-and-left-behind.ts';
import { unreached } from './unreached.ts';
import { lateNews, starve, toldLate } from '../../scenarios/told/starved.ts';
import { wellMannered } from '../world/receivers.ts';
import { Story } from '../story.ts';
import { viewMember } from '../world/views.ts';
import { everyVariantIsNoticed, type Tale } from './noticing.contract.ts';
import { popping } from './popping.ts';
import { withoutRepair } from './without-repair.ts';

const three = ['m0', 'm1', 'm2'];
const five = [...three, 'm3', 'm4'];
const six = [...five, 'm5'];
const no = { does: 'answer', status: 500, afterMs: 1 } as const;

function isOnce(story: Story, id: string): boolean {
  const sequences = story.calls(id).map(({ sequence }) => sequence);
  return new Set(sequences).size === sequences.length && sequences.length > 0;
}

/** A receiver that takes its time is called once (P5). */
const slowReceiver: Tale = async () => {
  const story = await Story.begin({ members: three });
  story.cluster.receivers.behave('r0', { does: 'answer', status: 200, afterMs: 4500 });
  const { id } = await story.set({ seconds: 20, factor: 3 });
  await story.until(60);
  return { story, kept: isOnce(story, id) };
};

everyVariantIsNoticed(popping, {
  // P5, without a fault: a claim and its answer take longer than the replicas of a short timer can wait for it.
  'no skew': async () => {
    const story = await Story.begin({ members: three });
    story.cluster.cables.delayMs = 20;
    const { id } = await story.set({ seconds: 0.1, times: 20, factor: 3 });
    await story.pass(5);
    return { story, kept: isOnce(story, id) };
  },
  // The third replica is inside 2n (P4).
  'two seconds of skew for every interval': async () => {
    const story = await Story.begin({ members: three });
    const { id, replicas } = await story.set({ seconds: 1, factor: 3 });
    for (const name of replicas.slice(0, 2)) {
      story.cluster.member(name).crash({ power: true, wipe: false });
    }
    await story.until(10);
    return { story, kept: (story.pops(id)[0]?.at ?? 10) <= 2 };
  },
  'wall clock for due times': { first: 4 },
  // P5: each pop is made once, by members that get no processor for seconds.
  'an answer to an earlier question counts after a sleep': async () => {
    // Each answer is then one to an earlier question: pops come so late that later ones merge into them (P4).
    const { calls, pops } = await starve(1, 2000, 200);
    return { story: null, kept: calls === pops && pops > 1550 };
  },
  // P6: a cancel lies in the socket of the only replica when its alarm rings late.
  'alarms that ring late go before messages that came meanwhile': async () => {
    const story = await Story.begin({ members: three });
    const { id, replicas } = await story.set({ seconds: 5, factor: 1 });
    const other = three.find((name) => !replicas.includes(name));
    await story.until(4.7);
    story.cluster.member(replicas[0] ?? '').stall(450);
    await story.cancel(id, other);
    await story.until(20);
    return { story, kept: story.calls(id).length === 0 };
  },
  // P5: the member has just started, and its connections are not there yet.
  'a question that could not be asked counts as answered': async () => {
    const { story, calls } = await unreached();
    return { story, kept: calls.length === 1 };
  },
  // P5: the member that made the pop stands still before it can tell.
  'a member that does not answer for a second counts as dead': async () => {
    const { story, calls } = await toldLate();
    return { story, kept: calls.length === 1 };
  },
  'a member that slept for long waits for answers as briefly as any': async () => {
    const { story, calls } = await lateNews();
    return { story, kept: calls.length === 1 };
  },
  // P4: the third replica was awake all the time.
  'a member that slept over a pop goes before one that was awake': async () => ({
    story: null,
    kept: (await sleepersFirst(8.6)) <= 10,
  }),
  'a member that slept over a pop holds back one that was awake as often as it asks': async () => ({
    story: null,
    kept: (await asksAgain(2, 6.6)) <= 10,
  }),
  'no claim': slowReceiver,
  'a claim ends while its call is under way': slowReceiver,
  // A member that was down while the timer was cancelled asks before it pops (P6). With repair it would be told before.
  'a claim for an older state is granted': () =>
    withoutRepair(async () => {
      const { story, id } = await returnsOverdue();
      return { story, kept: story.pops(id).length === 0 };
    }),
  // P5.
  'a claim that overtakes its record is not remembered': async () => {
    const all = await slowAndLeftBehind(1, 1);
    const kept = all.every((sequences) => new Set(sequences).size === sequences.length);
    return { story: null, kept };
  },
  // P5.
  'a member that leaves is not asked': async () => {
    const sequences = await drainedWhileCalling(1, { seconds: 5, times: 3, factor: 1 }, 5.5);
    return { story: null, kept: new Set(sequences).size === sequences.length };
  },
  // Out of the view without knowing it: the member and its successor pop once between them (P5).
  'a claim is given to each that asks, though they do not ask each other': async () => {
    const story = await Story.begin({ members: five, etcd: true });
    await story.pass(5);
    const ids: string[] = [];
    for (let i = 0; i < 30; i++) {
      ids.push((await story.set({ seconds: 10, times: 5, factor: 3 }, five[i % 5])).id);
    }
    const mend = story.etcd?.cut('m2');
    await story.pass(20);
    if (story.etcd !== null) story.etcd.away = true;
    mend?.();
    await story.pass(40);
    return { story, kept: ids.every((id) => isOnce(story, id)) };
  },
  // P4, "healthy cluster: within milliseconds of n": no fault happens, only the view changes for a moment.
  'claims are not given back': async () => {
    const story = await Story.begin({ members: six });
    const { cluster } = story;
    const change = (names: readonly string[]): void =>
      cluster.views.change(names.map((name) => viewMember(name)));
    cluster.cables.delayMs = 15;
    const { id, replicas } = await story.set({ seconds: 2 }, 'm0');
    const setMs = cluster.world.nowMs;
    await story.pass(1.88);
    change(six.filter((name) => name !== replicas[0]));
    await story.pass(0.1);
    change(six);
    await story.pass(10);
    const [call] = story.calls(id);
    const tookMs = (call?.startMs ?? Number.POSITIVE_INFINITY) - setMs;
    return { story, kept: tookMs - 2000 < 200 };
  },
  // P2.
  'a failed callback counts as done': async () => {
    const story = await Story.begin({ members: three });
    story.cluster.receivers.behave('r0', no);
    const { id } = await story.set({ seconds: 5 });
    await story.until(7);
    story.cluster.receivers.behave('r0', wellMannered);
    await story.until(60);
    return { story, kept: story.calls(id).some(({ effectMs }) => effectMs !== null) };
  },
  // P6.
  'the outcome of a pop beats an update': async () => {
    const story = await Story.begin({ members: ['m0'] });
    const { id } = await story.set({ seconds: 2, times: 10, factor: 1, opaque: 'old' });
    story.cluster.receivers.behave('r0', { does: 'answer', status: 200, afterMs: 500 });
    await story.until(2.1);
    await story.replace(id, { seconds: 5, factor: 1, opaque: 'new' });
    await story.until(30);
    return { story, kept: story.calls(id).filter(({ body }) => body === 'old').length === 1 };
  },
  // P5.
  'a letter that is sent again goes on with the series of its timer': async () => {
    const story = await Story.begin({ members: three });
    story.cluster.receivers.behave('r0', no);
    const { id } = await story.set({ seconds: 20, times: 5, retry: { 'max-attempts': 1 } });
    await story.until(21);
    story.cluster.receivers.behave('r0', wellMannered);
    const [letter] = await story.deadLetters();
    await story.cancel(id);
    await story.ask('POST', `/dead-letters/${letter?.id}/redeliver`);
    await story.until(200);
    return { story, kept: story.calls(id).length === 2 };
  },
});
