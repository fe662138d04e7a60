/**
 * Broken rules about late messages, and about members that come and go: time on its way, waiting for answers, joining,
 * draining.
 */
import { compareProgress, State } from '@carillon/core';
import { insides, Peers, Replica } from '@carillon/server/internal';
import { type Broken, replaces, together } from './broken.ts';
import { forgetsAtStart, leavesOutJoining, offersWithoutList, waitsNoLonger } from './splitting.ts';

const givenAwayDue = replaces(insides.handOff, 'isDue', () => false);

const looksSeldom = replaces(
  insides.readiness,
  'heldUntilMs',
  ({ original, part }, handle, record) => {
    const heldMs = original.call(part, handle, record);
    return heldMs === null ? null : Math.max(heldMs, part.parts.clock.now() + 100);
  },
);

/** The replica is not told when the offered copy is due. */
const offeredAtAnyTime = replaces(
  Peers.prototype,
  'send',
  ({ original, part }, name, message, done) => {
    const told = message.type === 'offer' ? { ...message, dueMs: Infinity } : message;
    original.call(part, name, told, done);
  },
);

const late: readonly Broken[] = [
  {
    name: 'a record is as young as it says',
    apply: replaces(Replica.prototype, 'receive', ({ original, part }, record, mode, done) => {
      const stored = part.get(record.hi, record.lo);
      original.call(part, record, mode, done);
      const taken = part.get(record.hi, record.lo);
      const newer = stored === undefined || compareProgress(record, stored) > 0;
      if (taken === undefined || !newer || taken.state !== State.live) return;
      const { startMs, dueMs, retryMs } = record;
      if (taken.startMs < startMs) part.write({ ...taken, startMs, dueMs, retryMs });
    }),
  },
  {
    name: 'a late copy is as good as one with the right time',
    // A stand-in that has just started brings the right time by itself, so that is broken too.
    apply: together(offeredAtAnyTime, forgetsAtStart),
  },
  {
    name: 'a copy is given away while its pop is overdue',
    apply: givenAwayDue,
  },
  {
    name: 'and its new holder looks at a pop that waits for news every 100 ms only',
    apply: together(givenAwayDue, looksSeldom),
  },
  {
    name: 'a claimant that stood still asks again, however often it did',
    apply: replaces(insides.claiming, 'ask', ({ original, part }, pop) => {
      pop.rounds = 0;
      original.call(part, pop);
    }),
  },
  {
    name: 'a claim is over when the wait for its answers is',
    apply: replaces(insides.claiming, 'ask', ({ original, part }, pop) => {
      original.call(part, pop);
      const nowMs = part.parts.clock.now();
      pop.untilMs = nowMs + (pop.untilMs - nowMs) / 2;
    }),
  },
];

const coming: readonly Broken[] = [
  {
    name: 'a joining member is given nothing',
    apply: replaces(insides.membership, 'phaseOf', (_, { phase }) => phase),
  },
  {
    name: 'a record that was overdue when it came waits for no silent member',
    apply: replaces(insides.claiming, 'sleepOf', ({ part }, { record, others }) => {
      const sleep = part.parts.awake.sleepOf(record);
      const isListed = others.every((name) => record.replicas.includes(name));
      return sleep === 'no' && !isListed ? 'stale' : sleep;
    }),
  },
  {
    name: 'a stand-in offers a record without its list',
    apply: offersWithoutList,
  },
  {
    name: 'and a member that is joining again is not asked before a pop that is overdue',
    // While the member waits for answers of silent ones, the joining member tells of its pops: broken too.
    apply: together(offersWithoutList, leavesOutJoining, waitsNoLonger),
  },
  {
    name: 'a drain ends when etcd does not answer',
    apply: replaces(insides.member, 'tellSource', async ({ part }, what) => {
      await part.parts.options.source[what]();
    }),
  },
  {
    name: 'a drain that failed is not taken back',
    apply: replaces(insides.membership, 'stay', () => undefined),
  },
];

const starting: readonly Broken[] = [
  {
    name: 'two members that leave together do not look at each other',
    apply: together(
      replaces(insides.member, 'hasOthers', () => true),
      replaces(insides.membership, 'stay', () => undefined),
    ),
  },
];

export const arriving: readonly Broken[] = [...late, ...coming, ...starting];
