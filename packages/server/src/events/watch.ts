/**
 * Looks at the state of a member now and then, and says which states are worth an event. A state is told of when it has
 * lasted, and again each hour while it lasts; it is over once it has clearly passed. Pure: facts and the time in,
 * conditions out.
 *
 *   quiet ──lasted──▶ due ──told──▶ told ──an hour──▶ due
 *     ▲                │              │
 *     └────passed──────┴──────────────┘   (of a destination that was told of, "well again" is due then)
 */
import type { DiskRoom } from '@carillon/core';
import type { DamageView } from '../metrics/status.ts';
import { failingMs, failureCountMin, nearlyFullBytes } from '../metrics/thresholds.ts';
import type { FailingRun } from '../pop/failures/failing-receivers.ts';
import type { Condition } from './events.ts';

type FailingReceiver = Omit<FailingRun, 'newestMs'>;

export interface LetterBox {
  readonly namespace: string;
  readonly letters: number;
  readonly countMax: number;
}

export interface WatchFacts {
  readonly member: string;
  readonly failing: readonly FailingReceiver[];
  /** Receivers that have failed, and had a success since the last look. */
  readonly well: readonly Pick<FailingReceiver, 'namespace' | 'receiver'>[];
  readonly boxes: readonly LetterBox[];
  /** Timers, ended ones among them, that are not known to be with all members that should hold them. */
  readonly underReplicated: number;
  readonly damage: DamageView | null;
  /** null: nothing is kept on disk, or its room is not known. */
  readonly disk: DiskRoom | null;
}

/** A state that may be worth an event. */
interface State {
  readonly condition: Condition;
  /** How long it must have lasted. */
  readonly lastsMs: number;
  /** Told of once, however long it lasts. */
  readonly once?: boolean;
  /** Since when it has lasted, where that is known. */
  readonly sinceMs?: number;
  /** Told of when it is over. */
  readonly after?: Condition;
}

interface Known extends State {
  readonly fromMs: number;
  /** null: not told of yet. */
  toldMs: number | null;
  isAsked: boolean;
}

/** A state that is over, to be told of. */
interface Passed {
  readonly condition: Condition;
  /** When the state itself was told of. */
  readonly toldMs: number;
  isAsked: boolean;
}

/** A condition to tell of; `told` is to be called with the result of telling. */
export interface Due {
  readonly condition: Condition;
  readonly told: (isTold: boolean) => void;
}

const remindMs = 3_600_000;
const copiesMs = 60_000;
const boxRatio = 0.8;
/** A state that was told of is over when it has passed by this much. */
const slackRatio = 0.1;

export class Watch {
  private readonly known = new Map<string, Known>();
  /** Destinations that are well again, to be told of. */
  private readonly well = new Map<string, Passed>();

  /** Findings to tell of now. */
  look(facts: WatchFacts, nowMs: number): Due[] {
    const states = new Map(statesOf(facts, (key) => this.known.has(key)));
    this.forgetPassed(states, new Set(facts.well.map(failingKey)));
    const due: Due[] = [];
    for (const [key, state] of states) {
      const known = this.noted(key, state, nowMs);
      if (isDue(known, nowMs)) due.push(this.ask(key, known, nowMs));
    }
    for (const [key, entry] of this.well) if (!entry.isAsked) due.push(this.askWell(key, entry));
    return due;
  }

  /** `well`: destinations that had a success. One that is only called no more is not told to be well. */
  private forgetPassed(states: ReadonlyMap<string, State>, well: ReadonlySet<string>): void {
    for (const [key, { toldMs, after }] of this.known) {
      if (states.has(key)) continue;
      this.known.delete(key);
      if (toldMs !== null && after !== undefined && well.has(key))
        this.well.set(key, { condition: after, toldMs, isAsked: false });
    }
  }

  private noted(key: string, state: State, nowMs: number): Known {
    // Failing again before it was told to be well: nothing has changed for the receiver of events.
    const passed = this.well.get(key);
    this.well.delete(key);
    const before = this.known.get(key);
    const known: Known = {
      ...state,
      fromMs: before?.fromMs ?? state.sinceMs ?? nowMs,
      toldMs: before?.toldMs ?? passed?.toldMs ?? null,
      isAsked: before?.isAsked ?? false,
    };
    this.known.set(key, known);
    return known;
  }

  private ask(key: string, known: Known, nowMs: number): Due {
    known.isAsked = true;
    const told = (isTold: boolean): void => {
      const now = this.known.get(key);
      if (now === undefined) return;
      now.isAsked = false;
      if (isTold) now.toldMs = nowMs;
    };
    return { condition: known.condition, told };
  }

  private askWell(key: string, entry: Passed): Due {
    entry.isAsked = true;
    const told = (isTold: boolean): void => {
      entry.isAsked = false;
      if (isTold && this.well.get(key) === entry) this.well.delete(key);
    };
    return { condition: entry.condition, told };
  }
}

function isDue({ fromMs, lastsMs, toldMs, isAsked, once }: Known, nowMs: number): boolean {
  if (isAsked || nowMs - fromMs < lastsMs) return false;
  return toldMs === null || (once !== true && nowMs - toldMs >= remindMs);
}

/** `isKnown`: whether a state was there at the last look; it then takes more for it to be over. */
function statesOf(facts: WatchFacts, isKnown: (key: string) => boolean): [string, State][] {
  const slack = (key: string): number => (isKnown(key) ? slackRatio : 0);
  return [
    ...facts.failing.flatMap(failingState),
    ...facts.boxes.flatMap((box) => boxState(box, slack(`box ${box.namespace}`))),
    ...copiesState(facts),
    ...damageState(facts),
    ...diskState(facts, slack('disk')),
  ];
}

function failingState(run: FailingReceiver): [string, State][] {
  const { namespace, receiver, failure, count, sinceMs } = run;
  if (count < failureCountMin) return [];
  const about = { namespace, subject: receiver } as const;
  const condition: Condition = {
    ...about,
    kind: 'destination-failing',
    data: { receiver, failure, failures: count },
  };
  const after: Condition = { ...about, kind: 'destination-well', data: { receiver } };
  return [[failingKey(run), { condition, after, sinceMs, lastsMs: failingMs }]];
}

function failingKey({
  namespace,
  receiver,
}: Pick<FailingReceiver, 'namespace' | 'receiver'>): string {
  return `failing ${namespace} ${receiver}`;
}

function boxState({ namespace, letters, countMax }: LetterBox, slack: number): [string, State][] {
  if (countMax === 0 || letters < countMax * (boxRatio - slack)) return [];
  const data = { letters, 'letters-max': countMax };
  const condition: Condition = { kind: 'letter-box-nearly-full', namespace, subject: '', data };
  return [[`box ${namespace}`, { condition, lastsMs: 0 }]];
}

function copiesState({ underReplicated, member }: WatchFacts): [string, State][] {
  if (underReplicated === 0) return [];
  const data = { timers: underReplicated, member };
  const condition: Condition = { kind: 'copies-missing', namespace: null, subject: '', data };
  return [['copies', { condition, lastsMs: copiesMs }]];
}

/** Each damage that is found is a state of its own: more of it is told of again. */
function damageState({ damage, member }: WatchFacts): [string, State][] {
  if (damage === null) return [];
  const { state, stretches, entriesLost } = damage;
  const data = { member, state, stretches, 'entries-lost': entriesLost };
  const condition: Condition = { kind: 'damage-found', namespace: null, subject: member, data };
  return [[`damage ${stretches}`, { condition, lastsMs: 0, once: true }]];
}

function diskState({ disk, member }: WatchFacts, slack: number): [string, State][] {
  if (disk === null) return [];
  if (disk.freeBytes >= nearlyFullBytes(disk) * (1 + slack)) return [];
  const data = { member, 'free-bytes': disk.freeBytes, 'total-bytes': disk.totalBytes };
  const condition: Condition = { kind: 'disk-nearly-full', namespace: null, subject: member, data };
  return [['disk', { condition, lastsMs: 0 }]];
}
