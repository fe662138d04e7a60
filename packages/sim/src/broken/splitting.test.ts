/**
 * A test of the tests: a cluster that orders changes by chance, or forgets members it does not see, breaks a promise.
 */
import { shrunkSplit } from '../../scenarios/told/one-clock.ts';
import { replacedByANewcomer } from '../../scenarios/told/replaced-by-a-newcomer.ts';
import { backForAMoment } from '../../scenarios/told/stand-ins/back-for-a-moment.ts';
import { twoStandInsMeet } from '../../scenarios/told/stand-ins/two-stand-ins-meet.ts';
import { cancelledAloneAndRestarted } from '../../scenarios/told/stand-ins/cancelled-alone-and-restarted.ts';
import { cancelledBesideAStandIn } from '../../scenarios/told/stand-ins/cancelled-beside-a-stand-in.ts';
import { replacedByAnOlderView } from '../../scenarios/told/stand-ins/replaced-by-an-older-view.ts';
import { startWithoutEtcd } from '../../scenarios/told/stand-ins/start-without-etcd.ts';
import { standInsThatJoin } from '../../scenarios/told/stand-ins/stand-ins-that-join.ts';
import { starveAndRestart } from '../../scenarios/told/starved.ts';
import { Story } from '../story.ts';
import { doubledGiveBack } from './doubled.ts';
import { everyVariantIsNoticed } from './noticing.contract.ts';
import { splitting } from './splitting.ts';

const five = ['m0', 'm1', 'm2', 'm3', 'm4'];

/** A timer whose only replica loses its place in etcd and runs on; another member, which may start anew, cancels it. */
async function cancelElsewhere(startsAnew: boolean) {
  const story = await Story.begin({ members: five, etcd: true });
  await story.pass(10);
  const { id, replicas } = await story.set({ seconds: 60, factor: 1 });
  const [via = ''] = five.filter((name) => !replicas.includes(name));
  for (const name of replicas) story.etcd?.cut(name);
  await story.pass(15);
  if (startsAnew) {
    story.cluster.member(via).crash({ power: true, wipe: false });
    await story.pass(1);
    story.cluster.member(via).start();
  }
  await story.pass(14);
  const shown = await story.shown(id, via);
  await story.cancel(id, via);
  await story.pass(120);
  return { story, shown, kept: story.pops(id).length === 0 };
}

function onceEach(sequences: readonly number[]) {
  return { story: null, kept: sequences.length === new Set(sequences).size };
}

function eachOnce({ calls, pops }: { readonly calls: number; readonly pops: number }) {
  return { story: null, kept: calls === pops && pops > 1600 };
}

everyVariantIsNoticed(splitting, {
  // P6: a clock is set back, then a split; the client changes sides.
  'versions that a client has seen are ignored': async () => {
    const story = await Story.begin({ members: ['m0', 'm1'] });
    await story.pass(60);
    story.cluster.member('m1').clock.wallOffsetMs = -3700;
    const mend = story.part('m0', 'm1');
    await story.pass(1);
    const { id } = await story.set({ seconds: 60 }, 'm0');
    await story.cancel(id, 'm1');
    mend();
    await story.pass(150);
    return { story, kept: story.calls(id).length === 0 };
  },
  // P6: the view of one side of a split shrinks, and the clocks that are left say less.
  'the clock of a member that vanished counts no more': async () => {
    const { story, bodies } = await shrunkSplit();
    return { story, kept: bodies.every((body) => body === 'later') };
  },
  // P5: a second member that cannot reach the first asks one that forgot the claim.
  'a give-back ends every claim of its sender': async () => {
    const { story, callers } = await doubledGiveBack(3500);
    return { story, kept: callers.length === 1 };
  },
  // P6: etcd comes back, and one that was down while the timer was cancelled is shown first.
  'a member that starts alone does not wait for others': async () => {
    const story = await Story.begin({ members: ['m0', 'm1'], etcd: true });
    const { cluster, etcd } = story;
    if (etcd === null) throw new Error('This story has an etcd.');
    await story.pass(30);
    const { id } = await story.set({ seconds: 30 }, 'm0');
    etcd.away = true;
    await story.pass(4);
    cluster.member('m0').crash({ power: true, wipe: false });
    await story.pass(2);
    cluster.member('m0').start();
    await story.pass(8);
    await story.cancel(id, 'm1');
    await story.pass(36);
    etcd.away = false;
    await story.pass(40);
    return { story, kept: story.pops(id).length === 0 };
  },
  // P7: the timer lives, at a member that etcd does not know.
  'members that vanished are not told': async () => {
    const { story, shown } = await cancelElsewhere(false);
    return { story, kept: shown !== null };
  },
  // P6: the member that cancels never heard of the one that holds the timer.
  'a member whose view differs asks its replicas only': () => cancelElsewhere(true),
  // P5: the replica is down again before it has the record, and a stand-in has it too.
  'a member that gives a record away asks its replicas only': async () =>
    onceEach(await backForAMoment(1000, 0)),
  // P6: the replica of the newer view has the timer as it was before the change.
  'a member that the view wants and the list of a change does not name is not told': async () => {
    const [first] = await replacedByAnOlderView('m3', 1);
    return { story: null, kept: first === 5 };
  },
  // P5: the former replica has not heard of the member that pops its timer.
  'a member that holds back for a pop, and is not listed, is not told of it': async () =>
    onceEach(await replacedByANewcomer(1)),
  // P5: the member asks again when the claim is over, while the two others get no processor.
  'a member that is refused because of a pop, and is not listed, is not told of it': async () =>
    eachOnce(await starveAndRestart(25, 1000, 800)),
  // P5: a member that was told to stop is back, and the others get no processor when the one in its place asks them.
  'a member whose list is of another view waits no longer for answers than others do': async () =>
    eachOnce(await starveAndRestart(1, 600, 1000)),
  // P6: the former stand-in goes on until the replica, which is down, counts as absent.
  'a member that may stand in on the other side of a net-split is not told': async () => {
    const order = ['m0', 'm1', 'm2'] as const;
    return { story: null, kept: (await twoStandInsMeet({ order, parted: 15 })) === 0 };
  },
  // P6: the replicas hear of the cancel 5 s after the split healed.
  'a member that restarts forgets which changes it took for other members': async () => ({
    story: null,
    kept: (await cancelledAloneAndRestarted({ mended: 4.5, seed: 1 })) === 0,
  }),
  // P6: it pops the timer as it was, before it knows of the stand-in.
  'a member that has just started takes the members that etcd shows for all there are':
    async () => {
      const late = await startWithoutEtcd(30, (story, id) => story.cancel(id, 'm1'), 1);
      return { story: null, kept: late.length === 0 };
    },
  // P2: the member leaves with the only copy.
  'only the member that took a change knows which members lack it': async () => ({
    story: null,
    kept: (await cancelledBesideAStandIn({ replaced: false, seed: 1 })) === 0,
  }),
  // P5: two members that join stand in one after the other, and the first still counts on the replica that is down.
  'a new stand-in takes the former one off the list': async () =>
    onceEach(await standInsThatJoin(1, 3)),
});
