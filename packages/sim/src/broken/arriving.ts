/**
 * Broken rules about late messages, and about members that come and go: time on its way, waiting for answers, joining,
 * draining.
 */
import { compareProgress, State } from '@carillon/core';
import { insides, Peers, Replica } from '@carillon/server/internal';
import { type Broken, type Mend, together } from './broken.ts';

function givenAwayDue(): Mend {
  const { handOff } = insides;
  const { isOverdue } = handOff;
  handOff.isOverdue = () => false;
  return () => {
    handOff.isOverdue = isOverdue;
  };
}

function looksSeldom(): Mend {
  const { readiness } = insides;
  const { heldUntilMs } = readiness;
  readiness.heldUntilMs = function (handle, record) {
    const heldMs = heldUntilMs.call(this, handle, record);
    return heldMs === null ? null : Math.max(heldMs, this.parts.clock.now() + 100);
  };
  return () => {
    readiness.heldUntilMs = heldUntilMs;
  };
}

const late: readonly Broken[] = [
  {
    name: 'a record is as young as it says',
    apply: () => {
      const replica = Replica.prototype;
      const { receive } = replica;
      replica.receive = function (record, mode, done) {
        const stored = this.get(record.hi, record.lo);
        receive.call(this, record, mode, done);
        const taken = this.get(record.hi, record.lo);
        const newer = stored === undefined || compareProgress(record, stored) > 0;
        if (taken === undefined || !newer || taken.state !== State.live) return;
        const { startMs, dueMs, retryMs } = record;
        if (taken.startMs < startMs) this.write({ ...taken, startMs, dueMs, retryMs });
      };
      return () => {
        replica.receive = receive;
      };
    },
  },
  {
    name: 'a late copy is as good as one with the right time',
    apply: () => {
      const peers = Peers.prototype;
      const { send } = peers;
      peers.send = function (name, message, done) {
        const told = message.type === 'offer' ? { ...message, dueMs: Infinity } : message;
        send.call(this, name, told, done);
      };
      return () => {
        peers.send = send;
      };
    },
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
    apply: () => {
      const { claiming } = insides;
      const { ask } = claiming;
      claiming.ask = function (pop) {
        pop.rounds = 0;
        ask.call(this, pop);
      };
      return () => {
        claiming.ask = ask;
      };
    },
  },
  {
    name: 'a claim is over when the wait for its answers is',
    apply: () => {
      const { claiming } = insides;
      const { ask } = claiming;
      claiming.ask = function (pop) {
        ask.call(this, pop);
        const nowMs = this.parts.clock.now();
        pop.untilMs = nowMs + (pop.untilMs - nowMs) / 2;
      };
      return () => {
        claiming.ask = ask;
      };
    },
  },
];

const coming: readonly Broken[] = [
  {
    name: 'a joining member is given nothing',
    apply: () => {
      const { membership } = insides;
      const { phaseOf } = membership;
      membership.phaseOf = ({ phase }) => phase;
      return () => {
        membership.phaseOf = phaseOf;
      };
    },
  },
  {
    name: 'a drain ends when etcd does not answer',
    apply: () => {
      const { member } = insides;
      const { tellSource } = member;
      member.tellSource = async function (what) {
        await this.parts.options.source[what]();
      };
      return () => {
        member.tellSource = tellSource;
      };
    },
  },
  {
    name: 'a drain that failed is not taken back',
    apply: () => {
      const { membership } = insides;
      const { stay } = membership;
      membership.stay = () => undefined;
      return () => {
        membership.stay = stay;
      };
    },
  },
];

const starting: readonly Broken[] = [
  {
    name: 'two members that leave together do not look at each other',
    apply: () => {
      const { member, membership } = insides;
      const { hasOthers } = member;
      const { stay } = membership;
      member.hasOthers = () => true;
      membership.stay = () => undefined;
      return () => {
        member.hasOthers = hasOthers;
        membership.stay = stay;
      };
    },
  },
];

export const arriving: readonly Broken[] = [...late, ...coming, ...starting];
