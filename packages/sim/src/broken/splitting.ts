/**
 * Broken rules of order across a net-split, and of members that a view does not show: versions, clocks, asking before a
 * call.
 */
import {
  Coordinator,
  insides,
  Peers,
  Presence,
  Rejoining,
  Vanished,
  View,
} from '@carillon/server/internal';
import { type Broken, replaces, together } from './broken.ts';

/** No member notices that its view is not that of the others. */
export const viewsAlike = replaces(Presence.prototype, 'differs', () => false);

/** A member that is not listed itself asks the listed members and no others. */
export const asksListed = replaces(insides.holders, 'givesAway', () => false);

/** A member that has just started counts on etcd to show all others. */
const takesShownForAll = replaces(insides.holders, 'mayLackMembers', () => false);

/** A stand-in that has just started does not bring its records to the replicas by itself. */
export const forgetsAtStart = replaces(insides.resync, 'bringToReplicas', () => undefined);

/** A replica that has the record does not hear that a stand-in has it too. */
export const offersWithoutList = replaces(insides.handOff, 'standsIn', () => false);

/** A member that is joining again is not asked before a pop. */
export const leavesOutJoining = replaces(View.prototype, 'namesIn', ({ original, part }, phase) =>
  phase === 'joining' ? [] : original.call(part, phase),
);

/** No answers are awaited for longer because a record is on its way. */
export const waitsNoLonger = replaces(insides.claiming, 'sleepOf', ({ part }, { record }) =>
  part.parts.awake.sleepOf(record),
);

/** A member that is refused because of a pop is not noted among the ones to tell. */
const refusedUnknown = replaces(insides.granting, 'claimed', ({ original, part }, from, ask) => {
  const { pops, store } = part.parts;
  const pop = pops.get(store.find(ask.standing.hi, ask.standing.lo));
  const unlisted = pop?.unlisted ?? [];
  const answer = original.call(part, from, ask);
  if (pop !== undefined) pop.unlisted = unlisted;
  return answer;
});

const order: readonly Broken[] = [
  {
    name: 'versions that a client has seen are ignored',
    apply: replaces(Coordinator.prototype, 'saw', () => undefined),
  },
  {
    name: 'the clock of a member that vanished counts no more',
    apply: replaces(insides.presence, 'forgetAbsent', ({ original, part }, names) => {
      for (const name of part.clocks.keys()) if (!names.includes(name)) part.clocks.delete(name);
      original.call(part, names);
    }),
  },
  {
    name: 'a give-back ends every claim of its sender',
    apply: replaces(Peers.prototype, 'send', ({ original, part }, name, message, done) => {
      original.call(
        part,
        name,
        message.type === 'claim' ? { ...message, serial: 0 } : message,
        done,
      );
    }),
  },
];

const hidden: readonly Broken[] = [
  {
    name: 'a member that starts alone does not wait for others',
    // A pop that fell due before the start waits for another reason too, so that is broken with it.
    apply: together(
      replaces(Rejoining.prototype, 'awaits', () => false),
      takesShownForAll,
    ),
  },
  {
    name: 'members that vanished are not told',
    apply: replaces(Vanished.prototype, 'update', () => undefined),
  },
  {
    name: 'a member whose view differs asks its replicas only',
    apply: viewsAlike,
  },
  {
    name: 'a member that gives a record away asks its replicas only',
    apply: asksListed,
  },
  {
    name: 'a member that the view wants and the list of a change does not name is not told',
    apply: replaces(insides.news, 'tellUnlisted', () => undefined),
  },
  {
    name: 'a member that holds back for a pop, and is not listed, is not told of it',
    apply: replaces(insides.claiming, 'granted', (_, pop) => {
      pop.granted = true;
    }),
  },
  {
    name: 'a member that is refused because of a pop, and is not listed, is not told of it',
    // A stand-in that tells of its copy is listed, and a member that is joining again is asked: each is enough.
    apply: together(refusedUnknown, leavesOutJoining, offersWithoutList),
  },
  {
    name: 'a member whose list is of another view waits no longer for answers than others do',
    apply: waitsNoLonger,
  },
  {
    name: 'a member that may stand in on the other side of a net-split is not told',
    apply: replaces(insides.write, 'passedOver', () => []),
  },
  {
    name: 'a member that restarts forgets which changes it took for other members',
    apply: forgetsAtStart,
  },
  {
    name: 'a member that has just started takes the members that etcd shows for all there are',
    apply: takesShownForAll,
  },
  {
    name: 'only the member that took a change knows which members lack it',
    apply: replaces(insides.news, 'unconfirmed', ({ original, part }, news) =>
      original.call(part, { ...news, isNew: true }),
    ),
  },
  {
    name: 'a new stand-in takes the former one off the list',
    apply: replaces(insides.resync, 'standIns', ({ original, part }, record, wanted) => {
      const { able } = part.parts;
      return wanted.filter(able).length >= record.factor ? [] : original.call(part, record, wanted);
    }),
  },
];

export const splitting: readonly Broken[] = [...order, ...hidden];
