/**
 * Private members of a member's parts, for tests that break a rule on purpose. The declarations of a package leave
 * out the types of private members; here each is named once, with its type, so that the compiler notices when one is
 * renamed or changes.
 */
import { Cluster } from '../cluster/cluster.ts';
import { Doubt } from '../cluster/doubt.ts';
import { HandOff } from '../cluster/hand-off.ts';
import { Membership } from '../cluster/membership.ts';
import { Presence } from '../cluster/presence.ts';
import { Resync } from '../cluster/resync.ts';
import { Events } from '../events/events.ts';
import { Member } from '../member.ts';
import { Alarm } from '../pop/alarm.ts';
import { Attempts } from '../pop/attempts.ts';
import { Claiming } from '../pop/claiming.ts';
import { Granting } from '../pop/granting.ts';
import { PopRules } from '../pop/pop-rules.ts';
import { Readiness } from '../pop/readiness.ts';
import { Replica } from '../replication/replica.ts';
import { Write } from '../replication/write.ts';

function claimingFields(claiming: Claiming) {
  return { parts: claiming['parts'] };
}

export type ClaimingInside = Pick<Claiming, 'ask' | 'renew' | 'giveBack'> &
  ReturnType<typeof claimingFields>;

const alarmMethods = { rang: Alarm.prototype['rang'] };

function alarmFields(alarm: Alarm) {
  return { parts: alarm['parts'], set: alarm['set'] };
}

export type AlarmInside = Pick<Alarm, 'poll'> &
  typeof alarmMethods &
  ReturnType<typeof alarmFields>;

const grantingMethods = { rankOf: Granting.prototype['rankOf'] };

function grantingFields(granting: Granting) {
  return { parts: granting['parts'], claims: granting['claims'] };
}

export type GrantingInside = Pick<Granting, 'claimed'> &
  typeof grantingMethods &
  ReturnType<typeof grantingFields>;

const readinessMethods = { restMs: Readiness.prototype['restMs'] };

function readinessFields(readiness: Readiness) {
  return { parts: readiness['parts'] };
}

export type ReadinessInside = Pick<Readiness, 'heldUntilMs'> &
  typeof readinessMethods &
  ReturnType<typeof readinessFields>;

const attemptsMethods = {
  present: Attempts.prototype['present'],
  carryOut: Attempts.prototype['carryOut'],
  buried: Attempts.prototype['buried'],
};

function attemptsFields(attempts: Attempts) {
  return { parts: attempts['parts'] };
}

export type AttemptsInside = Pick<Attempts, 'ended'> &
  typeof attemptsMethods &
  ReturnType<typeof attemptsFields>;

const eventsMethods = { numberOf: Events.prototype['numberOf'] };

export type EventsInside = typeof eventsMethods;

function rulesFields(rules: PopRules) {
  return { parts: rules['parts'] };
}

export type PopRulesInside = Pick<PopRules, 'circumstances'> & ReturnType<typeof rulesFields>;

const handOffMethods = { one: HandOff.prototype['one'], isOverdue: HandOff.prototype['isOverdue'] };

function handOffFields(handOff: HandOff) {
  return { parts: handOff['parts'] };
}

export type HandOffInside = Pick<HandOff, 'bury'> &
  typeof handOffMethods &
  ReturnType<typeof handOffFields>;

export type ClusterInside = Pick<Cluster, 'givesAway'>;

const doubtMethods = { judge: Doubt.prototype['judge'], tell: Doubt.prototype['tell'] };

function doubtFields(doubt: Doubt) {
  return { parts: doubt['parts'] };
}

export type DoubtInside = typeof doubtMethods & ReturnType<typeof doubtFields>;

const resyncMethods = { standIns: Resync.prototype['standIns'] };

function resyncFields(resync: Resync) {
  return { parts: resync['parts'] };
}

export type ResyncInside = Pick<Resync, 'start' | 'noteIrregular'> &
  typeof resyncMethods &
  ReturnType<typeof resyncFields>;

const replicaMethods = { inTime: Replica.prototype['inTime'] };

function replicaFields(replica: Replica) {
  return { options: replica['options'] };
}

export type ReplicaInside = Pick<Replica, 'alarm'> &
  typeof replicaMethods &
  ReturnType<typeof replicaFields>;

const writeMethods = {
  standIn: Write.prototype['standIn'],
  beatenBy: Write.prototype['beatenBy'],
  tell: Write.prototype['tell'],
};

function writeFields(write: Write) {
  return { record: write['record'] };
}

export type WriteInside = typeof writeMethods & ReturnType<typeof writeFields>;

const presenceMethods = {
  forgetAbsent: Presence.prototype['forgetAbsent'],
  noteAbsent: Presence.prototype['noteAbsent'],
};

function presenceFields(presence: Presence) {
  return { clocks: presence['clocks'] };
}

export type PresenceInside = typeof presenceMethods & ReturnType<typeof presenceFields>;

const membershipMethods = { phaseOf: Membership.prototype['phaseOf'] };

export type MembershipInside = Pick<Membership, 'stay'> & typeof membershipMethods;

const memberMethods = {
  tellSource: Member.prototype['tellSource'],
  hasOthers: Member.prototype['hasOthers'],
};

function memberFields(member: Member) {
  return { parts: member['parts'] };
}

export type MemberInside = typeof memberMethods & ReturnType<typeof memberFields>;

/** The parts that tests break, private ones included. */
export const insides = {
  claiming: Claiming.prototype as unknown as ClaimingInside,
  alarm: Alarm.prototype as unknown as AlarmInside,
  granting: Granting.prototype as unknown as GrantingInside,
  readiness: Readiness.prototype as unknown as ReadinessInside,
  attempts: Attempts.prototype as unknown as AttemptsInside,
  events: Events.prototype as unknown as EventsInside,
  popRules: PopRules.prototype as unknown as PopRulesInside,
  handOff: HandOff.prototype as unknown as HandOffInside,
  resync: Resync.prototype as unknown as ResyncInside,
  cluster: Cluster.prototype as unknown as ClusterInside,
  doubt: Doubt.prototype as unknown as DoubtInside,
  replica: Replica.prototype as unknown as ReplicaInside,
  write: Write.prototype as unknown as WriteInside,
  presence: Presence.prototype as unknown as PresenceInside,
  membership: Membership.prototype as unknown as MembershipInside,
  member: Member.prototype as unknown as MemberInside,
};
