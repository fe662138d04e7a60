/**
 * P2, P5 and P6 while the one replica of a timer is down: of two members that stood in for it one after the other one
 * pops, and none of them pops a timer that was replaced.
 */
import { expect, test } from 'vitest';
import { backForAMoment } from './told/stand-ins/back-for-a-moment.ts';
import { cancelledAfterADrain } from './told/stand-ins/cancelled-after-a-drain.ts';
import { cancelledAloneAndRestarted } from './told/stand-ins/cancelled-alone-and-restarted.ts';
import { cancelledBesideAStandIn } from './told/stand-ins/cancelled-beside-a-stand-in.ts';
import { cancelledThroughAStandIn } from './told/stand-ins/cancelled-through-a-stand-in.ts';
import { drainedWithACancel } from './told/stand-ins/drained-with-a-cancel.ts';
import { formerHolder } from './told/stand-ins/former-holder.ts';
import { formerStandIn } from './told/stand-ins/former-stand-ins.ts';
import { givenToALeaver } from './told/stand-ins/given-to-a-leaver.ts';
import { mostAreDown } from './told/stand-ins/most-are-down.ts';
import { replacedByAnOlderView } from './told/stand-ins/replaced-by-an-older-view.ts';
import { restartsAfterItsPops } from './told/stand-ins/restarts-after-its-pops.ts';
import { twoStandInsMeet } from './told/stand-ins/two-stand-ins-meet.ts';
import { standInsThatJoin } from './told/stand-ins/stand-ins-that-join.ts';

test.each([1, 2, 3, 4])(
  'the former stand-in of a replica that is down still knows the present one: every pop is made once (R=1): seed %i',
  async (seed) => {
    expect(await formerStandIn(seed)).toEqual(Array.from({ length: 10 }, (_, i) => i + 1));
  },
);

test.each([1, 2].flatMap((factor) => [1, 2].map((seed) => ({ factor, seed }))))(
  'stand-ins know each other while the list of the view names members that do not answer: every pop is made once: %j',
  async ({ factor, seed }) => {
    expect(await mostAreDown(seed, factor)).toEqual(Array.from({ length: 25 }, (_, i) => i + 1));
  },
);

test.each([1, 2, 3, 4])(
  'a former holder hears of the stand-in that a replace found: the pop is made once (R=1): seed %i',
  async (seed) => {
    expect(await formerHolder(seed)).toEqual([1]);
  },
);

/** Found by seed 1259425375. */
test.each([
  { backMs: 600, slowPpm: 0 },
  { backMs: 900, slowPpm: 0 },
  { backMs: 1000, slowPpm: 0 },
  { backMs: 1100, slowPpm: 0 },
  { backMs: 1300, slowPpm: 1000 },
])(
  'a replica is back for a moment: a holder that gives its timer away asks a stand-in: every pop is made once (R=1): %j',
  async ({ backMs, slowPpm }) => {
    expect(await backForAMoment(backMs, slowPpm)).toEqual([1, 2, 3]);
  },
);

/** Found by seed 296658814. */
test.each([1, 3, 5, 8])(
  'members that join one after the other, and stand in for a replica that is down, know each other: every pop is made once (R=1): %d s apart',
  async (seconds) => {
    expect(await standInsThatJoin(1, seconds)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  },
);

/** Found by seed 541757732. */
test.each([
  { firstS: 25.4, againS: 32.4, downS: 0, seed: 1 },
  { firstS: 25.4, againS: 32.4, downS: 0, seed: 2 },
  { firstS: 28, againS: 32.7, downS: 0, seed: 1 },
])(
  'a member that is joining again is asked before a pop that is overdue: it may have made it just before (R=2): %j',
  async (restarts) => {
    expect(new Set(await restartsAfterItsPops(restarts))).toEqual(new Set([1]));
  },
);

test.each([0.5, 3, 8])(
  'a member that keeps a copy because a replica is down is known to the other one, and told of its pops (R=2): %d s',
  async (downS) => {
    const counts = await restartsAfterItsPops({ firstS: 25.4, againS: 32.5, downS, seed: 1 });
    expect(new Set(counts)).toEqual(new Set([1]));
  },
);

/** Found by seed 4150859487. */
test.each((['m1', 'm3'] as const).flatMap((via) => [1, 2].map((seed) => ({ via, seed }))))(
  'a stand-in of an older view sends a replace on to the replica of the newer one, which has the former copy (R=1): %j',
  async ({ via, seed }) => {
    expect(await replacedByAnOlderView(via, seed)).toEqual([5]);
  },
);

test.each([1, 2, 3])(
  'a member whose list is of another view than its own asks all possible holders: a cancelled timer does not pop (R=1): seed %i',
  async (seed) => {
    expect(await cancelledAfterADrain(seed)).toBe(0);
  },
);

test.each([6.2, 6.23, 6.24, 6.245, 6.3])(
  'a member that drains takes no timer that a stand-in gives back to it: the pop is made once (R=1): after %d s',
  async (seconds) => {
    expect(await givenToALeaver(seconds)).toBe(1);
  },
);

/** Found by dense plan 731908117. */
test.each([true, false].flatMap((replaced) => [1, 2].map((seed) => ({ replaced, seed }))))(
  'a stand-in tells the replica that was cut off of a cancel, while the one that took it stands still: no pop (R=2): %j',
  async (told) => {
    expect(await cancelledBesideAStandIn(told)).toBe(0);
  },
);

/** Found by dense plan 1844192381. */
test.each([1, 2, 3])(
  'a member that stands in for a replica takes the cancel that comes through it, though the id does not name it (R=1, P6): seed %i',
  async (seed) => {
    expect(await cancelledThroughAStandIn(seed)).toBe(0);
  },
);

test.each([1, 2].flatMap((factor) => [1, 2].map((seed) => ({ factor, seed }))))(
  'members that drain hand on the cancel of a timer whose replica is cut off: it does not pop when that is back (P6): %j',
  async ({ factor, seed }) => {
    expect(await drainedWithACancel(factor, seed)).toBe(0);
  },
);

/** Found by seed 821389855. */
test.each([3.25, 4.5, 5.75, 12, 45].flatMap((mended) => [1, 2].map((seed) => ({ mended, seed }))))(
  'a member that took a cancel alone, and restarts before its net-split heals, tells the replicas as soon as they answer (R=2, P6): %j',
  async (told) => {
    expect(await cancelledAloneAndRestarted(told)).toBe(0);
  },
);

/** Found by seed 821395905. */
test.each(
  [15, 25, 35, 60].flatMap((parted) => [
    { order: ['m0', 'm1', 'm2'] as const, parted },
    { order: ['m0', 'm2', 'm1'] as const, parted },
  ]),
)(
  'two members that stand in for one replica on two sides of a net-split hear of each other when it heals: a replace sticks (R=1, P6): %j',
  async (meeting) => {
    expect(await twoStandInsMeet(meeting)).toBe(0);
  },
);
