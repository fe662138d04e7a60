/**
 * Raises events: decides which namespaces want one, and stores it as a timer that is due now (`event-timer.ts`). From
 * then on it is replicated, called back, signed and tried again as any timer is.
 *
 * E1  One event for the cluster: its number follows from the thing told and the period in which it is told.
 * E2  An event is stored past the quotas of its namespace, and leaves no dead letter: it cannot be the cause of
 *     another.
 * E3  However many letters come, a member raises so many events in a period for one namespace; the rest share one.
 */
import { decodeDefinition, type Log, type TimerRecord } from '@carillon/core';
import type { EventKind, EventWish } from '../config/options/event-wish.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Instant } from '../timer/schedule.ts';
import { type Addressed, type Event, eventNumber, eventRecord } from './event-timer.ts';
import {
  type Letter,
  letterCameEvent,
  letterDroppedEvent,
  onFailureEvent,
} from './letter-event.ts';

export interface Numbered {
  readonly hi: number;
  readonly lo: number;
}

export interface EventsParts {
  readonly instant: () => Instant;
  /** null: the namespace wants no events. */
  readonly wish: (namespace: string) => EventWish | null;
  /** Namespaces that may be told of the cluster. */
  readonly namespaces: () => readonly string[];
  /** Replicas of an event. */
  readonly factor: number;
  /** Under which members keep a number that a client of the namespace would see. */
  readonly number: (namespace: string, number: Numbered) => Numbered;
  /** The id of a record as clients know it. */
  readonly idOf: (record: TimerRecord) => string;
  /** Places and stores a record where none has its number yet; true: it is there. */
  readonly create: (record: TimerRecord, done: (stored: boolean) => void) => void;
  /** The newest copy of a record that any of its replicas holds. */
  readonly read: (
    number: Numbered,
    factor: number,
    done: (record: TimerRecord | null) => void,
  ) => void;
  readonly metrics: Pick<Metrics, 'events'>;
  readonly log: Pick<Log, 'warn'>;
}

/** A state of the namespace or the cluster, as `watch.ts` finds it. */
export interface Condition {
  readonly kind: EventKind;
  /** null: every namespace that wants to be told of the cluster. */
  readonly namespace: string | null;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const letterPeriodMs = 60_000;
/** Letters of more receivers in one period are told of together. */
const letterEventCountMax = 100;
/** A state is told of once in this time, however often it comes and goes. */
const statePeriodMs = 600_000;
/**
 * Members notice the same thing within this time: at the beginning of a period one may have told of it in the period
 * before.
 */
const apartMs = 120_000;
const saidCountMax = 10_000;

export class Events {
  private readonly parts: EventsParts;
  /** Events that this member raised, by their text, with the beginning of their period. */
  private readonly said = new Map<string, number>();
  private letterPeriod = { startMs: 0, counts: new Map<string, number>() };

  constructor(parts: EventsParts) {
    this.parts = parts;
  }

  /**
   * A dead letter is safe: tells the uri of its timer, and its namespace. `done`: the events are safe too, or cannot
   * be.
   */
  letterCame(record: TimerRecord, done: () => void): void {
    const letter = this.letterOf(record);
    const { definition } = letter;
    const { onFailure, form } = definition;
    const raised: [Event, Addressed][] = [];
    if (onFailure !== null) raised.push([onFailureEvent(letter), { uri: onFailure, form }]);
    const wish = this.wishFor(record.namespace, 'dead-letter');
    const event = wish === null ? null : this.letterEvent(letter);
    if (wish !== null && event !== null) raised.push([event, wish]);
    let left = raised.length;
    if (left === 0) return done();
    const at = this.parts.instant();
    for (const [one, to] of raised) this.store(one, to, at, () => --left === 0 && done());
  }

  /**
   * A letter is about to be dropped by its namespace's retention. `done`: whether the event about it is safe, if one is
   * wanted.
   */
  letterDropped(record: TimerRecord, done: (told: boolean) => void): void {
    const wish = this.wishFor(record.namespace, 'letter-dropped');
    if (wish === null) return done(true);
    const event = letterDroppedEvent(this.letterOf(record));
    this.store(event, wish, this.parts.instant(), done);
  }

  /**
   * Tells of a state. `done` says whether it has been told of in this period by any member; false: this member told of
   * an earlier state like it in the same period, or no replica took the event. Then it is worth telling again later.
   */
  tell(condition: Condition, done: (told: boolean) => void): void {
    const { kind, namespace } = condition;
    const names = namespace === null ? this.parts.namespaces() : [namespace];
    const wished = names.flatMap((name) => {
      const wish = this.wishFor(name, kind);
      return wish === null ? [] : [{ name, wish }];
    });
    let left = wished.length;
    let isTold = true;
    if (left === 0) return done(true);
    for (const { name, wish } of wished) {
      this.tellOne({ ...condition, namespace: name }, wish, (told) => {
        isTold &&= told;
        if (--left === 0) done(isTold);
      });
    }
  }

  private tellOne(
    condition: Condition & { readonly namespace: string },
    wish: EventWish,
    done: (told: boolean) => void,
  ): void {
    const at = this.parts.instant();
    const { nowMs, wallMs } = at;
    const startMs = Math.floor(wallMs / statePeriodMs) * statePeriodMs;
    const event = stateEvent(condition, startMs);
    const text = textOf(event);
    if (this.said.get(text) === startMs) return done(false);
    this.remember(text, startMs);
    const stored = (isStored: boolean): void => {
      if (!isStored) this.said.delete(text);
      done(isStored);
    };
    if (wallMs - startMs >= apartMs) return this.store(event, wish, at, stored);
    const before = stateEvent(condition, startMs - statePeriodMs);
    this.parts.read(this.numberOf(before), this.parts.factor, (known) => {
      if (known !== null && nowMs - known.startMs < apartMs) done(true);
      else this.store(event, wish, at, stored);
    });
  }

  /** `at`: in the period that the event belongs to. */
  private store(event: Event, to: Addressed, at: Instant, done: (stored: boolean) => void): void {
    const { factor, create, metrics, log } = this.parts;
    create(eventRecord(event, to, this.numberOf(event), { at, factor }), (stored) => {
      metrics.events.add(stored ? 'stored' : 'refused');
      if (!stored) {
        const { kind, namespace } = event;
        log.warn('An event could not be stored.', { event: 'event-unstored', kind, namespace });
      }
      done(stored);
    });
  }

  /** The event for a letter of this receiver and failure; null: this member has raised it in this period. */
  private letterEvent(letter: Letter): Event | null {
    const { namespace } = letter.record;
    const { wallMs } = this.parts.instant();
    const startMs = Math.floor(wallMs / letterPeriodMs) * letterPeriodMs;
    if (this.letterPeriod.startMs !== startMs) this.letterPeriod = { startMs, counts: new Map() };
    const { counts } = this.letterPeriod;
    const count = counts.get(namespace) ?? 0;
    const receiver = URL.parse(letter.definition.uri)?.origin ?? '';
    const event = letterCameEvent(letter, receiver, startMs);
    if (this.said.get(textOf(event)) === startMs) return null;
    const told = count < letterEventCountMax ? event : letterCameEvent(letter, '', startMs);
    if (this.said.get(textOf(told)) === startMs) return null;
    this.remember(textOf(told), startMs);
    counts.set(namespace, count + 1);
    return told;
  }

  private letterOf(record: TimerRecord): Letter {
    return {
      record,
      definition: decodeDefinition(record.body),
      id: this.parts.idOf(record),
    };
  }

  private wishFor(namespace: string, kind: EventKind): EventWish | null {
    const wish = this.parts.wish(namespace);
    return wish?.kinds.includes(kind) === true ? wish : null;
  }

  private numberOf(event: Event): Numbered {
    return this.parts.number(event.namespace, eventNumber(event));
  }

  private remember(text: string, startMs: number): void {
    this.said.delete(text);
    this.said.set(text, startMs);
    if (this.said.size <= saidCountMax) return;
    for (const oldest of this.said.keys()) {
      this.said.delete(oldest);
      return;
    }
  }
}

function stateEvent(
  { kind, namespace, subject, data }: Condition & { readonly namespace: string },
  periodMs: number,
): Event {
  const version = { versionMs: periodMs, versionTie: 0 };
  return { kind, namespace, subject, data, detail: '', version };
}

/** The same in every period. */
function textOf({ kind, namespace, subject, detail }: Event): string {
  return JSON.stringify([kind, namespace, subject, detail]);
}
