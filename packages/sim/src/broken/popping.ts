/** Broken rules of popping: the order of replicas, the permission to call, and the result of a call. */
import { type CallbackResult, compareProgress, State, type TimerRecord } from '@carillon/core';
import {
  type AttemptsInside,
  type GrantingInside,
  insides,
  Peers,
  type ReplicaInside,
  positionOf,
  View,
} from '@carillon/server/internal';
import { Process } from '../world/process.ts';
import { type Broken, type Mend, together } from './broken.ts';
import { viewsAlike } from './splitting.ts';

/** The alarm of a live record; all others as they are. */
function livingAlarm(alarmMs: (replica: ReplicaInside, record: TimerRecord) => number): () => Mend {
  return () => {
    const { replica } = insides;
    const { alarm } = replica;
    replica.alarm = function (record) {
      return record.state === State.live ? alarmMs(this, record) : alarm.call(this, record);
    };
    return () => {
      replica.alarm = alarm;
    };
  };
}

/** Makes a member that holds the timer grant each claim that `wrongly` accepts. */
function grants(wrongly: (granting: GrantingInside, ask: ClaimAsk) => boolean): () => Mend {
  return () => {
    const { granting } = insides;
    const { claimed } = granting;
    granting.claimed = function (from, ask) {
      return wrongly(this, ask) ? { type: 'granted' } : claimed.call(this, from, ask);
    };
    return () => {
      granting.claimed = claimed;
    };
  };
}

type ClaimAsk = Parameters<GrantingInside['claimed']>[1];

type Ended = AttemptsInside['ended'];

/** Replaces the result of a call before the popper sees it. */
export function endsWith(
  heard: (pop: Parameters<Ended>[0], result: CallbackResult) => CallbackResult,
): () => Mend {
  return () => {
    const { attempts } = insides;
    const { ended } = attempts;
    attempts.ended = function (pop, result) {
      ended.call(this, pop, heard(pop, result));
    };
    return () => {
      attempts.ended = ended;
    };
  };
}

/** Whether the request of this member for the timer is out. */
function isCalling({ parts }: GrantingInside, { hi, lo }: ClaimAsk['standing']): boolean {
  return parts.pops.get(parts.store.find(hi, lo))?.phase === 'calling';
}

const noRenewing = (): Mend => {
  const { claiming } = insides;
  const { renew } = claiming;
  claiming.renew = () => undefined;
  return () => {
    claiming.renew = renew;
  };
};

const skew: readonly Broken[] = [
  { name: 'no skew', apply: livingAlarm((_, record) => record.retryMs) },
  {
    name: 'two seconds of skew for every interval',
    apply: livingAlarm(
      (replica, record) => record.retryMs + 2000 * positionOf(record, replica.options.self),
    ),
  },
  {
    name: 'wall clock for due times',
    apply: () => {
      const process = Process.prototype;
      const { now } = process;
      process.now = function () {
        return this.wall();
      };
      return () => {
        process.now = now;
      };
    },
  },
];

/** Replicas that vanished from the view are not asked before a pop. */
function vanishedUnasked(): () => void {
  const view = View.prototype;
  const { isKnown } = view;
  view.isKnown = function (name) {
    return this.member(name) !== undefined;
  };
  return () => {
    view.isKnown = isKnown;
  };
}

const claims: readonly Broken[] = [
  {
    name: 'no claim',
    apply: together(noRenewing, () => {
      const { claiming } = insides;
      const { ask } = claiming;
      claiming.ask = function (pop) {
        pop.untilMs = Number.POSITIVE_INFINITY;
        this.parts.happens(pop, 'unopposed');
      };
      return () => {
        claiming.ask = ask;
      };
    }),
  },
  {
    name: 'a claim for an older state is granted',
    apply: grants((granting, { standing }) => {
      const stored = granting.parts.replica.get(standing.hi, standing.lo);
      return stored !== undefined && compareProgress(stored, standing) > 0;
    }),
  },
  {
    // Replicas that vanished from the view are asked as well: then this alone does no harm.
    name: 'a claim that overtakes its record is not remembered',
    apply: together(
      vanishedUnasked,
      grants((granting, { standing }) => {
        const stored = granting.parts.replica.get(standing.hi, standing.lo);
        return stored !== undefined && compareProgress(stored, standing) < 0;
      }),
    ),
  },
  {
    name: 'a member that leaves is not asked',
    apply: () => {
      const view = View.prototype;
      const { namesIn } = view;
      view.namesIn = () => [];
      return () => {
        view.namesIn = namesIn;
      };
    },
  },
  {
    name: 'a claim ends while its call is under way',
    apply: together(
      noRenewing,
      grants((granting, { standing }) => isCalling(granting, standing)),
    ),
  },
  {
    // A member that knows that its view is not that of the others asks them all: then this alone does no harm.
    name: 'a claim is given to each that asks, though they do not ask each other',
    apply: together(viewsAlike, () => {
      const { granting } = insides;
      const { claimed } = granting;
      granting.claimed = function (from, ask) {
        const { store } = this.parts;
        const handle = store.find(ask.standing.hi, ask.standing.lo);
        if (handle !== -1) this.claims.changed(handle, null);
        return claimed.call(this, from, ask);
      };
      return () => {
        granting.claimed = claimed;
      };
    }),
  },
  {
    name: 'claims are not given back',
    apply: () => {
      const { claiming } = insides;
      const { giveBack } = claiming;
      claiming.giveBack = () => undefined;
      return () => {
        claiming.giveBack = giveBack;
      };
    },
  },
];

/** Changes the pop before the other replicas are asked about it. */
function beforeAsking(
  change: (pop: Parameters<typeof insides.claiming.ask>[0]) => void,
): () => Mend {
  return () => {
    const { claiming } = insides;
    const { ask } = claiming;
    claiming.ask = function (pop) {
      change(pop);
      ask.call(this, pop);
    };
    return () => {
      claiming.ask = ask;
    };
  };
}

const starving: readonly Broken[] = [
  {
    name: 'an answer to an earlier question counts after a sleep',
    apply: beforeAsking((pop) => {
      pop.rounds = 0;
    }),
  },
  {
    name: 'alarms that ring late go before messages that came meanwhile',
    apply: () => {
      const { alarm } = insides;
      const { rang } = alarm;
      alarm.rang = function () {
        const { awake, clock } = this.parts;
        if (this.set !== null) awake.rang(this.set.ringsMs, clock.now());
        this.set = null;
        this.poll();
      };
      return () => {
        alarm.rang = rang;
      };
    },
  },
  {
    name: 'a question that could not be asked counts as answered',
    apply: () => {
      const { claiming } = insides;
      const { ask } = claiming;
      claiming.ask = function (pop) {
        const { peers } = this.parts;
        if (peers === null) return ask.call(this, pop);
        const send: typeof peers.send = (name, message, done) =>
          peers.send(name, message, (answer) => done(answer ?? { type: 'unknown' }));
        const silent = (name: string): boolean => peers.silent(name);
        const stillSinceMs = (name: string) => peers.stillSinceMs(name);
        const parts = { ...this.parts, peers: { send, silent, stillSinceMs } };
        ask.call(Object.create(this, { parts: { value: parts } }), pop);
      };
      return () => {
        claiming.ask = ask;
      };
    },
  },
  {
    name: 'a member that does not answer for a second counts as dead',
    apply: () => {
      const peers = Peers.prototype;
      const { stillSinceMs } = peers;
      peers.stillSinceMs = () => null;
      return () => {
        peers.stillSinceMs = stillSinceMs;
      };
    },
  },
  {
    name: 'a member that slept for long waits for answers as briefly as any',
    apply: beforeAsking((pop) => {
      pop.askedMs = Number.NEGATIVE_INFINITY;
    }),
  },
  {
    name: 'a member that slept over a pop goes before one that was awake',
    apply: together(
      beforeAsking((pop) => {
        Object.assign(pop, { rank: pop.position });
      }),
      () => {
        const { granting } = insides;
        const { rankOf } = granting;
        granting.rankOf = function (record) {
          return positionOf(record, this.parts.self);
        };
        return () => {
          granting.rankOf = rankOf;
        };
      },
    ),
  },
  {
    name: 'a member that slept over a pop holds back one that was awake as often as it asks',
    apply: () => {
      const { granting } = insides;
      const { claimed } = granting;
      granting.claimed = function (from, ask) {
        const handle = this.parts.store.find(ask.standing.hi, ask.standing.lo);
        // Its claim counts as the first.
        if (this.claims.get(handle)?.by === from) this.claims.changed(handle, null);
        return claimed.call(this, from, ask);
      };
      return () => {
        granting.claimed = claimed;
      };
    },
  },
];

const outcomes: readonly Broken[] = [
  {
    name: 'a failed callback counts as done',
    apply: endsWith((_, result) =>
      result.kind === 'unmade' ? result : { kind: 'answer', status: 200, retryAfterMs: null },
    ),
  },
  {
    name: 'the outcome of a pop beats an update',
    apply: () => {
      const { attempts } = insides;
      const { present } = attempts;
      attempts.present = (pop) => pop.record;
      return () => {
        attempts.present = present;
      };
    },
  },
  {
    name: 'a letter that is sent again goes on with the series of its timer',
    apply: endsWith((pop, result) => {
      Object.assign(pop, { definition: { ...pop.definition, origin: null } });
      return result;
    }),
  },
];

export const popping: readonly Broken[] = [...skew, ...claims, ...starving, ...outcomes];
