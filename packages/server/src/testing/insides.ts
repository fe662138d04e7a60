/**
 * Private members of a member's parts, for tests that break a rule on purpose. The declarations of a package leave
 * out the types of private members; here each is named once, with its type, so that the compiler notices when one is
 * renamed or changes.
 */
import { Cluster } from '../cluster/cluster.ts';
import { Doubt } from '../cluster/doubt.ts';
import { HandOff } from '../cluster/hand-off.ts';
import { Presence } from '../cluster/presence.ts';
import { Resync } from '../cluster/resync.ts';
import { Member } from '../member.ts';
import { Popper } from '../pop/popper.ts';
import { Replica } from '../replication/replica.ts';
import { Write } from '../replication/write.ts';

const popperMethods = {
  claim: Popper.prototype['claim'],
  queue: Popper.prototype['queue'],
  renew: Popper.prototype['renew'],
  giveBack: Popper.prototype['giveBack'],
  present: Popper.prototype['present'],
  ended: Popper.prototype['ended'],
  restMs: Popper.prototype['restMs'],
  circumstances: Popper.prototype['circumstances'],
  carryOut: Popper.prototype['carryOut'],
  buried: Popper.prototype['buried'],
};

function popperFields(popper: Popper) {
  return { parts: popper['parts'], claims: popper['claims'], active: popper['active'] };
}

export type PopperInside = Pick<Popper, 'claimed' | 'calling'> &
  typeof popperMethods &
  ReturnType<typeof popperFields>;

const handOffMethods = { one: HandOff.prototype['one'] };

function handOffFields(handOff: HandOff) {
  return { parts: handOff['parts'] };
}

export type HandOffInside = Pick<HandOff, 'bury'> &
  typeof handOffMethods &
  ReturnType<typeof handOffFields>;

const doubtMethods = { judge: Doubt.prototype['judge'] };

function doubtFields(doubt: Doubt) {
  return { parts: doubt['parts'] };
}

export type DoubtInside = typeof doubtMethods & ReturnType<typeof doubtFields>;

const resyncMethods = { standIns: Resync.prototype['standIns'] };

function resyncFields(resync: Resync) {
  return { parts: resync['parts'] };
}

export type ResyncInside = typeof resyncMethods & ReturnType<typeof resyncFields>;

function replicaFields(replica: Replica) {
  return { options: replica['options'] };
}

export type ReplicaInside = Pick<Replica, 'alarm'> & ReturnType<typeof replicaFields>;

const writeMethods = {
  standIn: Write.prototype['standIn'],
  beatenBy: Write.prototype['beatenBy'],
  tell: Write.prototype['tell'],
};

function writeFields(write: Write) {
  return { record: write['record'] };
}

export type WriteInside = typeof writeMethods & ReturnType<typeof writeFields>;

const presenceMethods = { forgetAbsent: Presence.prototype['forgetAbsent'] };

function presenceFields(presence: Presence) {
  return { clocks: presence['clocks'] };
}

export type PresenceInside = typeof presenceMethods & ReturnType<typeof presenceFields>;

const clusterMethods = { phaseOf: Cluster.prototype['phaseOf'] };

export type ClusterInside = Pick<Cluster, 'stay'> & typeof clusterMethods;

const memberMethods = { tellSource: Member.prototype['tellSource'] };

function memberFields(member: Member) {
  return { options: member['options'] };
}

export type MemberInside = typeof memberMethods & ReturnType<typeof memberFields>;

/** The parts that tests break, private ones included. */
export const insides = {
  popper: Popper.prototype as unknown as PopperInside,
  handOff: HandOff.prototype as unknown as HandOffInside,
  resync: Resync.prototype as unknown as ResyncInside,
  doubt: Doubt.prototype as unknown as DoubtInside,
  replica: Replica.prototype as unknown as ReplicaInside,
  write: Write.prototype as unknown as WriteInside,
  presence: Presence.prototype as unknown as PresenceInside,
  cluster: Cluster.prototype as unknown as ClusterInside,
  member: Member.prototype as unknown as MemberInside,
};
