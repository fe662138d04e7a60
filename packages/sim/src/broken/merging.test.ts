/** A test of the tests: a member that merges wrongly, or confirms too early, breaks a promise. */
import { State } from '@carillon/core';
import { View } from '@carillon/server/internal';
import { askedForTwice } from '../../scenarios/told/asked-for-twice.ts';
import { beatenInTime } from '../../scenarios/told/beaten-in-time.ts';
import { lateCron } from '../../scenarios/told/late-cron/once.ts';
import { lateCronTwice } from '../../scenarios/told/late-cron/twice.ts';
import { lateCronUnknown } from '../../scenarios/told/late-cron/unknown.ts';
import { wellMannered } from '../world/receivers.ts';
import { Story } from '../story.ts';
import { viewMember } from '../world/views.ts';
import { merging } from './merging.ts';
import { everyVariantIsNoticed } from './noticing.contract.ts';

const two = ['m0', 'm1'];
/** A number of the client's own choice, and the members that placement gives it to. */
const number = '00000000000004d2-2';
const placed = new View({
  source: 'test',
  revision: 1,
  members: ['m0', 'm1', 'm2'].map((name) => viewMember(name)),
}).place(0, 0x4d2, 2);

const no = { does: 'answer', status: 500, afterMs: 1 } as const;

/** Frames sent from now on take 10 to 20 s and overtake each other; the returned function ends that. */
function delay(story: Story): () => void {
  const { cables } = story.cluster;
  const { delayMs } = cables;
  Object.assign(cables, { delayMs: 20_000, overtakeRatio: 1 });
  return () => {
    Object.assign(cables, { delayMs, overtakeRatio: 0 });
  };
}

everyVariantIsNoticed(merging, {
  // The word of a pop of the old version arrives after the replace; then its sender is gone (P6).
  'version ignored in merge': async () => {
    const story = await Story.begin({ members: two });
    const { id, replicas } = await story.set({ seconds: 10, times: 50, opaque: 'old' });
    const [a = '', b = ''] = replicas;
    await story.until(9.9);
    const end = delay(story);
    await story.until(10.5);
    end();
    await story.replace(id, { seconds: 40, times: 2, opaque: 'new' }, b);
    await story.until(13);
    const before = story.calls(id).length;
    story.cluster.member(a).crash({ power: true, wipe: false });
    await story.until(70);
    return {
      story,
      kept: story
        .calls(id)
        .slice(before)
        .every(({ body }) => body === 'new'),
    };
  },
  // The word of the failed attempt arrives after that of the delivery; then its sender is gone (P5).
  'a live record beats a tombstone of its version': async () => {
    const story = await Story.begin({ members: ['m0', 'm1'] });
    const { id, replicas } = await story.set({ seconds: 10, retry: { base: 3, cap: 3 } });
    story.cluster.receivers.behave('r0', no);
    await story.until(9.9);
    const end = delay(story);
    await story.until(10.5);
    end();
    story.cluster.receivers.behave('r0', wellMannered);
    await story.until(19.5);
    const delivered = story.calls(id).filter(({ effectMs }) => effectMs !== null);
    story.cluster.member(replicas[0] ?? '').crash({ power: true, wipe: false });
    story.cluster.member(replicas[1] ?? '').resume();
    await story.until(60);
    const all = story.calls(id).filter(({ effectMs }) => effectMs !== null);
    return { story, kept: delivered.length === 1 && all.length === 1 };
  },
  // The word of the first pop arrives after that of the second; then its sender is gone (P5).
  'sequence ignored in merge': async () => {
    const story = await Story.begin({ members: two });
    const { id, replicas } = await story.set({ seconds: 5, times: 50 });
    await story.until(4.9);
    const end = delay(story);
    await story.until(5.5);
    end();
    await story.until(14.5);
    story.cluster.member(replicas[0] ?? '').crash({ power: true, wipe: false });
    await story.until(40);
    const sequences = story.calls(id).map(({ sequence }) => sequence);
    return { story, kept: new Set(sequences).size === sequences.length };
  },
  // The word of the first attempt arrives after that of the second; then its sender is gone: one attempt more than the
  // policy allows.
  'attempt ignored in merge': async () => {
    const story = await Story.begin({ members: two });
    const { receivers } = story.cluster;
    receivers.behave('r0', { ...no, retryAfterMs: 3000 });
    const retry = { 'max-attempts': 3, 'max-wait': 60 };
    const { id, replicas } = await story.set({ seconds: 10, retry });
    await story.until(9.9);
    const end = delay(story);
    await story.until(10.5);
    end();
    receivers.behave('r0', { ...no, retryAfterMs: 40_000 });
    await story.until(15);
    // The two compare their records after a while: the sender is gone before that.
    const [, backup = ''] = replicas;
    while (story.seconds < 35 && story.record(id, backup)?.attempt === 2) await story.pass(0.5);
    story.cluster.member(replicas[0] ?? '').crash({ power: true, wipe: false });
    await story.pass(200);
    return { story, kept: story.calls(id).length <= 3 };
  },
  // A letter is sent again on both sides of a split, and delivered on one: it does not lie there to be sent once more
  // (P5).
  'a dead letter beats a tombstone of its version': async () => {
    const story = await Story.begin({ members: two });
    story.cluster.receivers.behave('r0', no);
    for (let i = 0; i < 5; i++) await story.set({ seconds: 5, retry: { 'max-attempts': 1 } });
    await story.until(8);
    const letters = await story.deadLetters();
    const resend = async (via: string): Promise<void> => {
      for (const { id } of letters) {
        const path = `/dead-letters/${id}/redeliver`;
        story.send({ method: 'POST', path, via }, () => undefined);
      }
      await story.pass(8);
    };
    const mend = story.part('m0', 'm1');
    await story.pass(3);
    await resend('m0');
    story.cluster.receivers.behave('r0', wellMannered);
    await resend('m1');
    mend();
    let kept = true;
    for (let i = 0; i < 300; i++) {
      await story.pass(0.2);
      kept &&= letters.every(({ id }) => story.record(id, 'm1')?.state !== State.dead);
    }
    return { story, kept };
  },
  // P4: the backup read of a pop late, and is then alone.
  'a cron record that lay in a socket keeps its late time': async () => {
    const { story, late } = await lateCron();
    return { story, kept: late.length === 0 };
  },
  // P3: its sender had heard of the timer late as well.
  // P2: times of the pattern are left out.
  'a cron record without an older copy keeps its late time': async () => {
    const { story, sequences } = await lateCronUnknown(34);
    return { story, kept: sequences.length === 6 };
  },
  'a cron record is due as much earlier as its older copy is': async () => {
    return { story: null, kept: (await lateCronTwice(0.2, 9)).every((earlyMs) => earlyMs === 0) };
  },
  // A stand-in that the first replica does not know of is not told of its pop, and makes it again when it is alone
  // (P5).
  'a list of replicas with a stand-in is not taken over': async () => {
    const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
    const [a = '', b = ''] = placed;
    story.cluster.member(b).crash({ power: true, wipe: false });
    await story.replace(number, { seconds: 10, times: 3 }, a);
    await story.until(12.5);
    story.cluster.member(a).crash({ power: true, wipe: false });
    await story.until(60);
    const sequences = story.calls(number).map(({ sequence }) => sequence);
    return { story, kept: sequences.join() === '1,2,3' };
  },
  // P1.
  'a request that was beaten while it waited is confirmed': async () => {
    let kept = true;
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      kept &&= (await beatenInTime(seed)).state === State.tombstone;
    }
    return { story: null, kept };
  },
  // P1: the later one is confirmed in a second, and stays.
  'an earlier request of one member is made again above a later one': async () => {
    const { status, had } = await askedForTwice(300);
    return { story: null, kept: status === 200 && had.every((opaque) => opaque === 'new') };
  },
  'answer before replication': { first: 1 },
  // P1: the machine of the only copy loses power the moment the client has its answer.
  'no sync before an answer': async () => {
    const story = await Story.begin({ members: ['m0'] });
    const ids: string[] = [];
    for (let i = 0; i < 10; i++) {
      ids.push((await story.set({ seconds: 60, factor: 1 })).id);
      story.cluster.member('m0').crash({ power: true, wipe: false });
      story.cluster.member('m0').start();
      await story.pass(1);
    }
    return { story, kept: ids.every((id) => story.holders(id).length === 1) };
  },
});
