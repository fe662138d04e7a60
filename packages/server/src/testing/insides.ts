/**
 * Private members of a member's parts, for tests that break a rule on purpose. The declarations of a package leave
 * out the types of private members; here each is named once, with its type, so that the compiler notices when one is
 * renamed or changes.
 */
import { Doubt } from '../cluster/doubt.ts';
import { HandOff } from '../cluster/hand-off.ts';
import { Holders } from '../cluster/holders.ts';
import { Membership } from '../cluster/membership.ts';
import { Presence } from '../cluster/presence.ts';
import { RecordNews } from '../cluster/record-news.ts';
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

/** A prototype, seen with its public members and the private ones that `privates` names; that is never called. */
function inside<T extends object, P>(prototype: T, privates: (part: T) => P) {
  void privates;
  return prototype as unknown as Pick<T, keyof T> & P;
}

/** The parts that tests break, private members included. */
export const insides = {
  claiming: inside(Claiming.prototype, (part) => ({
    parts: part['parts'],
    granted: part['granted'],
    sleepOf: part['sleepOf'],
  })),
  alarm: inside(Alarm.prototype, (part) => ({
    parts: part['parts'],
    set: part['set'],
    rang: part['rang'],
  })),
  granting: inside(Granting.prototype, (part) => ({
    parts: part['parts'],
    claims: part['claims'],
    rankOf: part['rankOf'],
  })),
  readiness: inside(Readiness.prototype, (part) => ({
    parts: part['parts'],
    restMs: part['restMs'],
  })),
  attempts: inside(Attempts.prototype, (part) => ({
    parts: part['parts'],
    present: part['present'],
    carryOut: part['carryOut'],
    buried: part['buried'],
  })),
  events: inside(Events.prototype, (part) => ({ numberOf: part['numberOf'] })),
  popRules: inside(PopRules.prototype, (part) => ({ parts: part['parts'] })),
  handOff: inside(HandOff.prototype, (part) => ({
    parts: part['parts'],
    one: part['one'],
    isDue: part['isDue'],
    standsIn: part['standsIn'],
  })),
  resync: inside(Resync.prototype, (part) => ({
    parts: part['parts'],
    standIns: part['standIns'],
    bringToReplicas: part['bringToReplicas'],
  })),
  holders: inside(Holders.prototype, (part) => ({
    givesAway: part['givesAway'],
    mayLackMembers: part['mayLackMembers'],
  })),
  news: inside(RecordNews.prototype, (part) => ({ tellUnlisted: part['tellUnlisted'] })),
  doubt: inside(Doubt.prototype, (part) => ({
    parts: part['parts'],
    judge: part['judge'],
    tell: part['tell'],
  })),
  replica: inside(Replica.prototype, (part) => ({
    options: part['options'],
    inTime: part['inTime'],
  })),
  write: inside(Write.prototype, (part) => ({
    passedOver: part['passedOver'],
    record: part['record'],
    standIn: part['standIn'],
    isReplacedBy: part['isReplacedBy'],
    tell: part['tell'],
  })),
  presence: inside(Presence.prototype, (part) => ({
    clocks: part['clocks'],
    forgetAbsent: part['forgetAbsent'],
    noteAbsent: part['noteAbsent'],
  })),
  membership: inside(Membership.prototype, (part) => ({ phaseOf: part['phaseOf'] })),
  member: inside(Member.prototype, (part) => ({
    parts: part['parts'],
    tellSource: part['tellSource'],
    hasOthers: part['hasOthers'],
  })),
};

export type AttemptsInside = typeof insides.attempts;
export type GrantingInside = typeof insides.granting;
export type ReplicaInside = typeof insides.replica;
