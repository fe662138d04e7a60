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
import { type Broken, type Mend, replaces, together } from './broken.ts';
import { viewsAlike } from './splitting.ts';

/** The alarm of a live record; all others as they are. */
function livingAlarm(
  alarmMs: (replica: ReplicaInside, record: Omit<TimerRecord, 'body'>) => number,
): () => Mend {
  return replaces(insides.replica, 'alarm', ({ original, part }, record) =>
    record.state === State.live ? alarmMs(part, record) : original.call(part, record),
  );
}

/** Makes a member that holds the timer grant each claim that `wrongly` accepts. */
function grants(wrongly: (granting: GrantingInside, ask: ClaimAsk) => boolean): () => Mend {
  return replaces(insides.granting, 'claimed', ({ original, part }, from, ask) =>
    wrongly(part, ask) ? { type: 'granted' as const } : original.call(part, from, ask),
  );
}

type ClaimAsk = Parameters<GrantingInside['claimed']>[1];

type Ended = AttemptsInside['ended'];

/** Replaces the result of a call before the popper sees it. */
export function endsWith(
  heard: (pop: Parameters<Ended>[0], result: CallbackResult) => CallbackResult,
): () => Mend {
  return replaces(insides.attempts, 'ended', ({ original, part }, pop, result) => {
    original.call(part, pop, heard(pop, result));
  });
}

/** Whether the request of this member for the timer is out. */
function isCalling({ parts }: GrantingInside, { hi, lo }: ClaimAsk['standing']): boolean {
  return parts.pops.get(parts.store.find(hi, lo))?.phase === 'calling';
}

const noRenewing = replaces(insides.claiming, 'renew', () => undefined);

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
    apply: replaces(Process.prototype, 'now', ({ part }) => part.wall()),
  },
];

/** Replicas that vanished from the view are not asked before a pop. */
const vanishedUnasked = replaces(
  View.prototype,
  'isKnown',
  ({ part }, name) => part.member(name) !== undefined,
);

/** An alarm goes before messages that came meanwhile. */
const messagesLast = replaces(insides.alarm, 'rang', ({ part }) => {
  const { awake, clock } = part.parts;
  if (part.set !== null) awake.rang(part.set.ringsMs, clock.now());
  part.set = null;
  part.poll();
});

const claims: readonly Broken[] = [
  {
    name: 'no claim',
    apply: together(
      noRenewing,
      replaces(insides.claiming, 'ask', ({ part }, pop) => {
        pop.untilMs = Number.POSITIVE_INFINITY;
        part.parts.happens(pop, 'unopposed');
      }),
    ),
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
      messagesLast,
      grants((granting, { standing }) => {
        const stored = granting.parts.replica.get(standing.hi, standing.lo);
        return stored !== undefined && compareProgress(stored, standing) < 0;
      }),
    ),
  },
  {
    name: 'a member that leaves is not asked',
    apply: replaces(View.prototype, 'namesIn', () => []),
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
    apply: together(
      viewsAlike,
      replaces(insides.granting, 'claimed', ({ original, part }, from, ask) => {
        const { store } = part.parts;
        const handle = store.find(ask.standing.hi, ask.standing.lo);
        if (handle !== -1) part.claims.changed(handle, null);
        return original.call(part, from, ask);
      }),
    ),
  },
  {
    name: 'claims are not given back',
    apply: replaces(insides.claiming, 'giveBack', () => undefined),
  },
];

/** Changes the pop before the other replicas are asked about it. */
function beforeAsking(
  change: (pop: Parameters<typeof insides.claiming.ask>[0]) => void,
): () => Mend {
  return replaces(insides.claiming, 'ask', ({ original, part }, pop) => {
    change(pop);
    original.call(part, pop);
  });
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
    apply: messagesLast,
  },
  {
    name: 'a question that could not be asked counts as answered',
    apply: replaces(insides.claiming, 'ask', ({ original, part }, pop) => {
      const { peers } = part.parts;
      if (peers === null) return original.call(part, pop);
      const send: typeof peers.send = (name, message, done) =>
        peers.send(name, message, (answer) => done(answer ?? { type: 'unknown' }));
      const silent = (name: string): boolean => peers.silent(name);
      const stillSinceMs = (name: string) => peers.stillSinceMs(name);
      const parts = { ...part.parts, peers: { send, silent, stillSinceMs } };
      original.call(Object.create(part, { parts: { value: parts } }), pop);
    }),
  },
  {
    name: 'a member that does not answer for a second counts as dead',
    apply: replaces(Peers.prototype, 'stillSinceMs', () => null),
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
      replaces(insides.granting, 'rankOf', ({ part }, record) =>
        positionOf(record, part.parts.self),
      ),
    ),
  },
  {
    name: 'a member that slept over a pop holds back one that was awake as often as it asks',
    apply: replaces(insides.granting, 'claimed', ({ original, part }, from, ask) => {
      const handle = part.parts.store.find(ask.standing.hi, ask.standing.lo);
      // Forgets an earlier claim of the same member, so that each of its claims counts as the first.
      if (part.claims.get(handle)?.by === from) part.claims.changed(handle, null);
      return original.call(part, from, ask);
    }),
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
    apply: replaces(insides.attempts, 'present', (_, pop) => pop.record),
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
