/**
 * Members that break a rule on purpose, to see that somebody notices: a test of the checkers, the seeds and the stories. Each
 * variant replaces one method of the production code while it is in force; the code itself knows nothing of them.
 */
import { compareProgress, type Progress, State, type TimerRecord } from '@carillon/core';
import {
  Compare,
  HandOff,
  Journal,
  Missed,
  Peers,
  Popper,
  Replica,
  Resync,
  turnOf,
  View,
} from '@carillon/server/internal';
import { Process } from './process.ts';

export interface Broken {
  readonly name: string;
  /** Breaks it; what is returned mends it. */
  readonly apply: () => () => void;
}

type Method = (...given: never[]) => unknown;
type Methods = Record<string, Method>;

/** Puts another method in the place of one; `make` is given the original. */
function instead(
  owner: { readonly prototype: object },
  method: string,
  make: (original: Method) => (this: never, ...given: never[]) => unknown,
): () => () => void {
  return () => {
    const methods = owner.prototype as Methods;
    const original = methods[method];
    if (original === undefined) throw new Error(`There is no method ${method} to break.`);
    methods[method] = make(original);
    return () => {
      methods[method] = original;
    };
  };
}

/** What the private parts of the classes under test look like from here. */
type Inner = Record<string, never>;
const call = (target: unknown, method: string, ...given: unknown[]): unknown =>
  (target as Record<string, (...all: unknown[]) => unknown>)[method]?.(...given);

export const variants: readonly Broken[] = [
  {
    name: 'answer before replication',
    apply: instead(Peers, 'send', (send) => {
      return function (this: unknown, name: unknown, message: unknown, done: unknown) {
        const early = (message as { type: string }).type === 'store';
        if (early) (done as (answer: object) => void)({ type: 'stored' });
        return Reflect.apply(send, this, [name, message, early ? () => undefined : done]);
      };
    }),
  },
  {
    name: 'no claim',
    apply: instead(Popper, 'claim', () => {
      return function (this: unknown, pop: unknown) {
        (pop as { untilMs: number }).untilMs = Number.POSITIVE_INFINITY;
        call(this, 'queue', pop);
      };
    }),
  },
  {
    name: 'a claim that overtakes its record is not remembered',
    apply: instead(Popper, 'claimed', (claimed) => {
      return function (this: Inner, from: string, ask: { entry: Progress & Numbered }) {
        const { replica } = (this as unknown as HandOffInside).parts;
        const stored = replica.get(ask.entry.hi, ask.entry.lo);
        if (stored !== undefined && compareProgress(stored, ask.entry) < 0)
          return { type: 'granted' };
        return Reflect.apply(claimed, this, [from, ask]);
      };
    }),
  },
  {
    name: 'nobody asks a member that leaves',
    apply: instead(View, 'namesIn', () => () => []),
  },
  {
    name: 'a failed callback counts as done',
    apply: instead(Popper, 'failed', () => {
      return function (this: unknown, pop: unknown, current: unknown) {
        call(this, 'delivered', pop, current, 500);
      };
    }),
  },
  {
    name: 'wall clock for due times',
    apply: instead(Process, 'now', () => {
      return function (this: Process) {
        return this.wall();
      };
    }),
  },
  {
    name: 'version ignored in merge',
    apply: instead(Replica, 'receive', (receive) => {
      return function (this: Replica, record: TimerRecord, mode: unknown, done: unknown) {
        const stored = this.get(record.hi, record.lo);
        const older = stored !== undefined && stored.versionMs > record.versionMs;
        if (!older) return Reflect.apply(receive, this, [record, mode, done]);
        this.write(record, done as never);
      };
    }),
  },
  {
    name: 'the outcome of a pop beats an update',
    apply: instead(Popper, 'present', () => {
      return function (this: unknown, pop: unknown) {
        return (pop as { record: TimerRecord }).record;
      };
    }),
  },
  {
    name: 'no stand-in',
    apply: instead(View, 'place', (place) => {
      return function (this: unknown, hi: number, lo: number, count: number) {
        return Reflect.apply(place, this, [hi, lo, Math.min(count, 2)]);
      };
    }),
  },
  {
    name: 'tombstone too short',
    apply: instead(Replica, 'alarm', (alarm) => {
      return function (this: unknown, record: TimerRecord) {
        const usual = Reflect.apply(alarm, this, [record]) as number;
        return record.state === State.tombstone ? record.dueMs + 1000 : usual;
      };
    }),
  },
  {
    name: 'tombstone dropped without asking',
    apply: () => {
      const mends = [
        instead(Replica, 'alarm', (alarm) => {
          return function (this: unknown, record: TimerRecord) {
            const usual = Reflect.apply(alarm, this, [record]) as number;
            return record.state === State.tombstone ? record.dueMs + 1000 : usual;
          };
        })(),
        instead(HandOff, 'bury', () => {
          return function (this: Inner, record: TimerRecord) {
            call(
              (this as unknown as { parts: { replica: unknown } }).parts.replica,
              'drop',
              record,
            );
          };
        })(),
      ];
      return () => {
        for (const mend of mends) mend();
      };
    },
  },
  {
    name: 'no sync before an answer',
    apply: instead(Journal, 'commit', (commit) => {
      return function (this: unknown, done: (error: null) => void) {
        Reflect.apply(commit, this, [() => undefined]);
        done(null);
      };
    }),
  },
  {
    name: 'no skew',
    apply: instead(Replica, 'alarm', (alarm) => {
      return function (this: unknown, record: TimerRecord) {
        if (record.state !== State.live) return Reflect.apply(alarm, this, [record]);
        return record.retryMs;
      };
    }),
  },
  {
    name: 'two seconds of skew for every interval',
    apply: instead(Replica, 'alarm', (alarm) => {
      return function (this: Inner, record: TimerRecord) {
        if (record.state !== State.live) return Reflect.apply(alarm, this, [record]);
        const { self } = (this as unknown as { options: { self: string } }).options;
        return record.retryMs + 2000 * turnOf(record, self);
      };
    }),
  },
  {
    name: 'a copy is dropped before the new replicas have it',
    apply: instead(HandOff, 'one', (one) => {
      return function (this: Inner, number: { hi: number; lo: number }) {
        const { self, replica } = (this as unknown as HandOffInside).parts;
        const record = replica.get(number.hi, number.lo);
        if (record !== undefined && !record.replicas.includes(self)) replica.drop(record);
        else Reflect.apply(one, this, [number]);
      };
    }),
  },
  {
    name: 'no repair',
    apply: () => {
      const mends = [
        instead(Missed, 'push', () => () => undefined)(),
        instead(Compare, 'start', () => () => undefined)(),
      ];
      return () => {
        for (const mend of mends) mend();
      };
    },
  },
  {
    name: 'a former stand-in forgets the present one',
    apply: instead(Resync, 'needsStandIns', (needs) => {
      return function (this: Inner, record: TimerRecord, wanted: readonly string[]) {
        const { replica } = (this as unknown as HandOffInside).parts;
        return replica.owns(record) && Reflect.apply(needs, this, [record, wanted]);
      };
    }),
  },
  {
    name: 'no resync',
    apply: instead(HandOff, 'add', () => () => undefined),
  },
];

interface Numbered {
  readonly hi: number;
  readonly lo: number;
}

interface HandOffInside {
  readonly parts: { readonly self: string; readonly replica: Replica };
}
