/** Broken rules of popping: the order of replicas, the permission to call, and the result of a call. */
import { type CallbackResult, compareProgress, State, type TimerRecord } from '@carillon/core';
import {
  insides,
  type PopperInside,
  type ReplicaInside,
  turnOf,
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
function grants(wrongly: (popper: PopperInside, ask: ClaimAsk) => boolean): () => Mend {
  return () => {
    const { popper } = insides;
    const { claimed } = popper;
    popper.claimed = function (from, ask) {
      return wrongly(this, ask) ? { type: 'granted' } : claimed.call(this, from, ask);
    };
    return () => {
      popper.claimed = claimed;
    };
  };
}

type ClaimAsk = Parameters<PopperInside['claimed']>[1];

type Ended = PopperInside['ended'];

/** Replaces the result of a call before the popper sees it. */
export function endsWith(
  heard: (pop: Parameters<Ended>[0], result: CallbackResult) => CallbackResult,
): () => Mend {
  return () => {
    const { popper } = insides;
    const { ended } = popper;
    popper.ended = function (pop, result) {
      ended.call(this, pop, heard(pop, result));
    };
    return () => {
      popper.ended = ended;
    };
  };
}

const noRenewing = (): Mend => {
  const { popper } = insides;
  const { renew } = popper;
  popper.renew = () => undefined;
  return () => {
    popper.renew = renew;
  };
};

const skew: readonly Broken[] = [
  { name: 'no skew', apply: livingAlarm((_, record) => record.retryMs) },
  {
    name: 'two seconds of skew for every interval',
    apply: livingAlarm(
      (replica, record) => record.retryMs + 2000 * turnOf(record, replica.options.self),
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

const claims: readonly Broken[] = [
  {
    name: 'no claim',
    apply: together(noRenewing, () => {
      const { popper } = insides;
      const { claim } = popper;
      popper.claim = function (pop) {
        pop.untilMs = Number.POSITIVE_INFINITY;
        this.queue(pop);
      };
      return () => {
        popper.claim = claim;
      };
    }),
  },
  {
    name: 'a claim for an older state is granted',
    apply: grants((popper, { entry }) => {
      const stored = popper.parts.replica.get(entry.hi, entry.lo);
      return stored !== undefined && compareProgress(stored, entry) > 0;
    }),
  },
  {
    name: 'a claim that overtakes its record is not remembered',
    apply: grants((popper, { entry }) => {
      const stored = popper.parts.replica.get(entry.hi, entry.lo);
      return stored !== undefined && compareProgress(stored, entry) < 0;
    }),
  },
  {
    name: 'nobody asks a member that leaves',
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
      grants((popper, { entry }) => popper.calling(entry)),
    ),
  },
  {
    // A member that knows that its view is not that of the others asks them all: then this alone does no harm.
    name: 'a claim is given to each that asks, though they do not ask each other',
    apply: together(viewsAlike, () => {
      const { popper } = insides;
      const { claimed } = popper;
      popper.claimed = function (from, ask) {
        const { store } = this.parts;
        const handle = store.find(ask.entry.hi, ask.entry.lo);
        if (handle !== -1) this.claims.changed(handle, null);
        return claimed.call(this, from, ask);
      };
      return () => {
        popper.claimed = claimed;
      };
    }),
  },
  {
    name: 'claims are not given back',
    apply: () => {
      const { popper } = insides;
      const { giveBack } = popper;
      popper.giveBack = () => undefined;
      return () => {
        popper.giveBack = giveBack;
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
      const { popper } = insides;
      const { present } = popper;
      popper.present = (pop) => pop.record;
      return () => {
        popper.present = present;
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

export const popping: readonly Broken[] = [...skew, ...claims, ...outcomes];
