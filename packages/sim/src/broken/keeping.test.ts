/**
 * A test of the tests: a cluster that keeps records too few, too short, too long or in the wrong places breaks a
 * promise.
 */
import { View } from '@carillon/server/internal';
import { changedAndRestarted } from '../../scenarios/told/away/changed-and-restarted.ts';
import { lastCopyAway, zeroEntries } from '../../scenarios/told/damaged-disks.ts';
import { formerHolder } from '../../scenarios/told/stand-ins/former-holder.ts';
import { formerStandIn } from '../../scenarios/told/stand-ins/former-stand-ins.ts';
import { mostAreDown } from '../../scenarios/told/stand-ins/most-are-down.ts';
import { rebalanced } from '../../scenarios/told/rebalanced.ts';
import { Story } from '../story.ts';
import { viewMember } from '../world/views.ts';
import { keeping } from './keeping.ts';
import { everyVariantIsNoticed } from './noticing.contract.ts';

const three = ['m0', 'm1', 'm2'];
const four = [...three, 'm3'];

function change(story: Story, names: readonly string[]): void {
  story.cluster.views.change(names.map((name) => viewMember(name)));
}

function isPlaced(story: Story, id: string, factor: number): boolean {
  const members = four.map((name) => viewMember(name));
  const view = new View({ source: 'test', revision: 1, members });
  const hi = Number.parseInt(id.slice(0, 8), 16);
  const lo = Number.parseInt(id.slice(8, 16), 16);
  return story.holders(id).join() === view.place(hi, lo, factor).toSorted().join();
}

async function timers(story: Story, factor: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) ids.push((await story.set({ seconds: 100, factor })).id);
  return ids;
}

/** A timer whose first replica then leaves the cluster for so long that its records are doubtful when it is back. */
async function away() {
  const config = new Map([['tombstoneRetentionMs', 60_000]]);
  const story = await Story.begin({ members: three, config });
  const { id, replicas } = await story.set({ seconds: 5000, factor: 2 });
  const [gone = ''] = replicas;
  const rest = three.filter((name) => name !== gone);
  await story.until(2500);
  story.cluster.member(gone).crash({ power: true, wipe: false });
  change(story, rest);
  await story.until(2600);
  return { story, id, gone, rest };
}

everyVariantIsNoticed(keeping, {
  // P1.
  'no stand-in': async () => {
    const story = await Story.begin({ members: three });
    story.cluster.member('m0').crash({ power: true, wipe: false });
    const copies: string[] = [];
    for (let i = 0; i < 10; i++) copies.push((await story.set({ seconds: 60 }, 'm1')).copies);
    return { story, kept: copies.every((text) => text === '2/2') };
  },
  // P6: a former replica keeps a timer that it should have deleted.
  'the filter in an id names no member': async () => {
    const { story, before, wanted } = await rebalanced();
    return { story, kept: story.holders(before.id).join() === wanted.toSorted().join() };
  },
  // P8: the new replica is in the view before it runs.
  'a copy is dropped before the new replicas have it': async () => {
    const story = await Story.begin({ members: three });
    const ids = await timers(story, 1);
    change(story, four);
    await story.until(130);
    return { story, kept: ids.every((id) => story.calls(id).length === 1) };
  },
  // P5.
  'a former stand-in forgets the present one': async () => {
    const sequences = await formerStandIn(1);
    return { story: null, kept: new Set(sequences).size === sequences.length };
  },
  // P5.
  'stand-ins that the view does not ask for forget each other': async () => {
    const sequences = await mostAreDown(1, 2);
    return { story: null, kept: new Set(sequences).size === sequences.length };
  },
  // P5.
  'a former holder does not hear of a stand-in': async () => {
    const sequences = await formerHolder(1);
    return { story: null, kept: new Set(sequences).size === sequences.length };
  },
  // P8.
  'no resync': async () => {
    const story = await Story.begin({ members: three });
    const ids = await timers(story, 2);
    story.cluster.add('m3').start();
    change(story, four);
    await story.pass(60);
    return { story, kept: ids.every((id) => isPlaced(story, id, 2)) };
  },
  // P6.
  'no repair': async () => {
    const story = await Story.begin({ members: three });
    const { id, replicas } = await story.set({ seconds: 200, factor: 3 });
    const [a = '', b = '', c = ''] = replicas;
    const mends = [story.part(a, b), story.part(a, c)];
    await story.until(10);
    await story.cancel(id, b);
    await story.until(30);
    for (const mend of mends) mend();
    await story.until(100);
    return { story, kept: story.holders(id).length === 0 };
  },
  'tombstone too short': { first: 17 },
  // P6.
  'tombstone dropped without asking': async () => {
    const story = await Story.begin({ members: three });
    const { id, replicas } = await story.set({ seconds: 60, factor: 3 });
    const [a = '', b = '', c = ''] = replicas;
    const mends = [story.part(a, b), story.part(a, c)];
    await story.until(5);
    await story.cancel(id, b);
    await story.until(30);
    for (const mend of mends) mend();
    await story.until(100);
    return { story, kept: story.pops(id).length === 0 };
  },
  // P6: the timer is cancelled while a member is gone, and all others have forgotten the cancel since.
  'old records are not doubted': async () => {
    const { story, id, gone, rest } = await away();
    await story.cancel(id, rest[0]);
    await story.until(3500);
    story.cluster.member(gone).start();
    change(story, three);
    await story.until(6000);
    return { story, kept: story.pops(id).length === 0 };
  },
  // P2: the last copy is with a member that was away, and it asks the one that lost it.
  'damage is ignored': async () => {
    const { story, id } = await lastCopyAway();
    await story.until(3 * 3600 + 60);
    return { story, kept: story.pops(id).length === 1 };
  },
  // P2: a crash finds only the damaged files.
  'damage is looked for at a start only': async () => {
    const story = await Story.begin({ members: ['m0'] });
    const { id } = await story.set({ seconds: 200, factor: 1 });
    await story.until(5);
    zeroEntries(story, 'm0');
    await story.until(100);
    story.cluster.member('m0').crash({ power: true, wipe: false });
    story.cluster.member('m0').start();
    await story.until(300);
    return { story, kept: story.calls(id).length === 1 };
  },
  // P6: the cancel is known to a stand-in only, and all restart before the split heals.
  'a member that testifies with an older record is not told': async () => {
    const { story, bodies } = await changedAndRestarted((told, id, via) => told.cancel(id, via));
    return { story, kept: bodies.length === 0 };
  },
  // P2: the others lost everything while a member was gone, so they cannot know which timers have ended.
  'a doubtful record is dropped where others remember too little': async () => {
    const { story, id, gone, rest } = await away();
    for (const name of rest) story.cluster.member(name).crash({ power: true, wipe: true });
    await story.until(3400);
    for (const name of rest) story.cluster.member(name).start();
    await story.until(3500);
    story.cluster.member(gone).start();
    change(story, three);
    await story.until(6000);
    return { story, kept: story.pops(id).length === 1 };
  },
});
