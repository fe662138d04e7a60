/**
 * A test of the tests: a cluster that reads late messages wrongly, or members that join or leave by half, breaks a
 * promise.
 */
import { againAndAgain } from '../../scenarios/told/again-and-again.ts';
import { givenAwayWhileDue } from '../../scenarios/told/given-away-while-due.ts';
import { handedToAStarter } from '../../scenarios/told/handed-to-a-starter.ts';
import { joinsWhileAway } from '../../scenarios/told/joins-while-away.ts';
import { restartsAfterItsPops } from '../../scenarios/told/stand-ins/restarts-after-its-pops.ts';
import { Story, timerBody } from '../story.ts';
import { viewMember } from '../world/views.ts';
import { arriving } from './arriving.ts';
import { everyVariantIsNoticed } from './noticing.contract.ts';

const three = ['m0', 'm1', 'm2'];

/** Whether the pop came, and by then. */
function isBy(story: Story, id: string, seconds: number, sequence = 1): boolean {
  return story.pops(id).some((pop) => pop.sequence === sequence && pop.at <= seconds);
}

async function popsOnce(againS: number, downS: number) {
  const counts = await restartsAfterItsPops({ firstS: 25.4, againS, downS, seed: 1 });
  return { story: null, kept: counts.every((count) => count === 1) };
}

everyVariantIsNoticed(arriving, {
  // P4: a backup reads of a pop after it stood still, and is then alone.
  'a record is as young as it says': async () => {
    const story = await Story.begin({ members: three });
    const { id, replicas } = await story.set({ seconds: 5, times: 6 });
    const [primary = '', backup = ''] = replicas;
    await story.until(9.9);
    story.cluster.member(backup).pause();
    await story.until(13);
    story.cluster.member(primary).pause();
    await story.until(14);
    story.cluster.member(backup).resume();
    await story.until(40);
    return { story, kept: isBy(story, id, 20, 3) };
  },
  // P4: a stand-in hands timers back after a restart; the replica stood still when they were set.
  'a late copy is as good as one with the right time': async () => {
    const story = await Story.begin({ members: three });
    story.cluster.member('m0').pause();
    await story.pass(3);
    story.zero();
    const ids: string[] = [];
    for (let i = 0; i < 10; i++) ids.push((await story.set({ seconds: 20, factor: 1 }, 'm1')).id);
    for (const name of ['m1', 'm2']) {
      story.cluster.member(name).crash({ power: false, wipe: false });
      story.cluster.member(name).start();
    }
    await story.until(15);
    story.cluster.member('m0').resume();
    await story.until(100);
    return { story, kept: ids.every((id) => isBy(story, id, 25)) };
  },
  // P4: a stand-in gives a timer back, and its replicas stand still as soon as they have it.
  'a copy is given away while its pop is overdue': async () => {
    return { story: null, kept: (await givenAwayWhileDue(8.7)) <= 12 };
  },
  // P4: a replica that has just started is handed timers of 250 ms that are due.
  'and its new holder looks at a pop that waits for news every 100 ms only': async () => {
    return { story: null, kept: (await handedToAStarter(800)) <= 0 };
  },
  // P4: a member gets no processor again and again, and the other replica stands still.
  'a claimant that stood still asks again, however often it did': async () => {
    return { story: null, kept: (await againAndAgain(3.8, 0.2)) <= 10 };
  },
  // P4: after a blackout the holder is alone.
  'a claim is over when the wait for its answers is': async () => {
    const story = await Story.begin({ members: three });
    const { id, replicas } = await story.set({ seconds: 0.1, times: 50, factor: 1 });
    const beganS = story.seconds;
    await story.pass(0.52);
    for (const member of story.cluster.members.values()) member.crash({ power: true, wipe: false });
    await story.pass(0.038);
    story.cluster.member(replicas[0] ?? '').start();
    await story.pass(3);
    return { story, kept: isBy(story, id, beganS + 0.71, 6) };
  },
  // P2 and P8: the first member is killed when the second has joined.
  'a joining member is given nothing': async () => {
    const story = await Story.begin({ members: ['m0'] });
    const { id } = await story.set({ seconds: 20 });
    story.cluster.add('m1').start();
    const joining = { ...viewMember('m1'), phase: 'joining' as const };
    story.cluster.views.change([viewMember('m0'), joining]);
    await story.pass(4);
    story.cluster.member('m0').crash({ power: true, wipe: true });
    await story.pass(40);
    return { story, kept: story.pops(id).length === 1 };
  },
  // P5: a member joins while the holder of all timers is down, and is given them while they are popped.
  'a record that was overdue when it came waits for no silent member': async () => {
    const counts = await joinsWhileAway(20, 1);
    return { story: null, kept: counts.every((count) => count === 1) };
  },
  // P5: a member is down after its pops, and a stand-in for the other replica was not told of them.
  'a stand-in offers a record without its list': () => popsOnce(32.5, 3),
  // P5: the same, and the member is back at once.
  'and a member that is joining again is not asked before a pop that is overdue': () =>
    popsOnce(32.4, 0),
  // P8: a member that stood still stays, and holds nothing.
  'a drain ends when etcd does not answer': async () => {
    const story = await Story.begin({ members: ['m0', 'm1'], etcd: true });
    const { id } = await story.set({ seconds: 300 });
    const leaver = story.cluster.member('m1');
    void leaver.drain();
    leaver.pause();
    await story.pass(12);
    leaver.resume();
    await story.pass(60);
    return { story, kept: leaver.drained || story.holders(id).length === 2 };
  },
  // P8: one of them stays, and is given timers.
  'two members that leave together do not look at each other': async () => {
    const config = new Map([['shutdown.drainLimitMs', 5000]]);
    const story = await Story.begin({ members: ['m0', 'm1'], config });
    await story.set({ seconds: 300 });
    for (const name of ['m0', 'm1']) void story.cluster.member(name).drain();
    await story.pass(60);
    const stayed = ['m0', 'm1'].filter((name) => !story.cluster.member(name).drained);
    const [via] = stayed;
    const content = timerBody({ seconds: 60 });
    const { status } = await story.request({ method: 'POST', path: '/timers', content, via });
    return { story, kept: status === 200 };
  },
  // P8: a member that could hand nothing on stays, and hands everything on later.
  'a drain that failed is not taken back': async () => {
    const config = new Map([['shutdown.drainLimitMs', 5000]]);
    const story = await Story.begin({ members: ['m0', 'm1'], config });
    const { id } = await story.set({ seconds: 300 });
    const mend = story.part('m0', 'm1');
    await story.pass(3);
    void story.cluster.member('m0').drain();
    await story.pass(8);
    mend();
    await story.pass(30);
    return { story, kept: story.holders(id).length === 2 };
  },
});
