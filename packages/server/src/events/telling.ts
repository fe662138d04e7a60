/**
 * Everything that a member tells of by itself: events about letters as they come and go, and about states that it finds
 * when it looks at itself now and then.
 */
import {
  type Cancel,
  type Clock,
  type DiskRoom,
  type Env,
  nextRoundMs,
  type TimerId,
  type TimerRecord,
} from '@carillon/core';
import { anyNamespace } from '../config/namespace.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { DamageView } from '../metrics/status.ts';
import { FailingReceivers } from '../pop/failures/failing-receivers.ts';
import type { QuotaTable } from '../quotas/quota-table.ts';
import type { Usage } from '../quotas/usage.ts';
import type { Instant } from '../timer/schedule.ts';
import { Events, type Numbered } from './events.ts';
import { LetterRetention, type RetentionParts } from './letter-retention.ts';
import { Watch } from './watch.ts';

export interface TellingParts {
  readonly self: string;
  readonly env: Pick<Env, 'clock' | 'log' | 'disk'>;
  readonly metrics: Metrics;
  readonly quotas: QuotaTable;
  /** Replicas of an event. */
  readonly factor: number;
  readonly store: RetentionParts['store'] & { readonly size: number };
  readonly replica: { readonly usage: Usage; alarm(record: TimerRecord): number };
  readonly ids: {
    number(namespace: string, number: Numbered): Numbered;
    of(record: TimerRecord): string;
  };
  readonly instant: () => Instant;
  /** Places and stores a record where none has its number yet. */
  readonly create: (record: TimerRecord, done: (stored: boolean) => void) => void;
  readonly read: (id: TimerId, done: (record: TimerRecord | null) => void) => void;
  /** Makes a tombstone of a letter, here and at its other replicas. */
  readonly end: (record: TimerRecord) => void;
  readonly underReplicated: () => number;
  readonly damage: () => DamageView | null;
  /** Alarms of records were set anew. */
  readonly onArmed: () => void;
  /** Records that this member may hold. */
  readonly recordCountMax: number;
}

/** So much more than its quota a namespace may have in events that wait for their receiver. */
const eventCountMax = 10_000;
const eventBytesMax = 64 * 1024 * 1024;
/** And all of them together so much more than the member may hold. */
const recordRatio = 1.05;

const lookMs = 5000;

export class Telling {
  private readonly parts: TellingParts;
  private readonly clock: Clock;
  readonly failing: FailingReceivers;
  readonly events: Events;
  readonly retention: LetterRetention;
  private readonly watch = new Watch();
  /** Room on the disk, as last asked. */
  private room: DiskRoom | null = null;
  /** Of the wishes of namespaces that the alarms of letters follow. */
  private revision: number;
  private stopLooking: Cancel = () => {};

  constructor(parts: TellingParts) {
    this.parts = parts;
    const { clock, log } = parts.env;
    this.clock = clock;
    this.revision = parts.quotas.revision;
    this.failing = new FailingReceivers(clock, log);
    this.events = this.createEvents();
    this.retention = this.createRetention();
  }

  /** Looks now, and again and again. */
  start(): void {
    this.look();
    this.stopLooking = this.clock.at(nextRoundMs(this.clock, lookMs), () => this.start());
  }

  stop(): void {
    this.stopLooking();
  }

  /** Room on the disk, as last asked; null: not known. */
  get diskRoom(): DiskRoom | null {
    return this.room;
  }

  private look(): void {
    const { quotas, env } = this.parts;
    if (this.revision !== quotas.revision) {
      this.revision = quotas.revision;
      this.retention.rearm();
    }
    this.retention.sweep();
    env.disk?.room().then((room) => {
      this.room = room;
    }, ignore);
    const well = this.failing.takeWell();
    if (!quotas.tells) return;
    const { self: member, replica, underReplicated, damage } = this.parts;
    const facts = {
      member,
      failing: this.failing.failing(),
      well,
      boxes: [...replica.usage.letterBoxes()].map(([namespace, letters]) => ({
        namespace,
        letters,
        countMax: quotas.of(namespace).letterCountMax,
      })),
      underReplicated: underReplicated(),
      damage: damage(),
      disk: this.room,
    };
    for (const { condition, told } of this.watch.look(facts, this.clock.now()))
      this.events.tell(condition, told);
  }

  private createEvents(): Events {
    const { env, metrics, quotas, factor, ids, instant, create, read } = this.parts;
    return new Events({
      instant,
      wish: (namespace) => quotas.of(namespace).events,
      namespaces: () => {
        const named = quotas.names.filter((name) => name !== anyNamespace);
        return named.includes('default') ? named : [...named, 'default'];
      },
      factor,
      number: (namespace, number) => ids.number(namespace, number),
      idOf: (record) => ids.of(record),
      create: (record, done) =>
        this.hasRoom(record.namespace) ? create(record, done) : done(false),
      read: ({ hi, lo }, copies, done) =>
        read({ hi, lo, bloomHi: 0, bloomLo: 0, factor: copies }, done),
      metrics,
      log: env.log,
    });
  }

  /** Events come past quotas, up to a bound: a receiver of events that is away must not fill the member. */
  private hasRoom(namespace: string): boolean {
    const { quotas, replica, store, recordCountMax } = this.parts;
    const { timerCountMax, bytesMax } = quotas.of(namespace);
    const { live, bytes } = replica.usage.of(namespace);
    if (live >= timerCountMax + eventCountMax || bytes >= bytesMax + eventBytesMax) return false;
    return store.size < recordCountMax * recordRatio;
  }

  private createRetention(): LetterRetention {
    const { self, env, metrics, quotas, store, replica, end, onArmed } = this.parts;
    return new LetterRetention({
      self,
      clock: env.clock,
      store,
      alarm: (record) => replica.alarm(record),
      countMax: (namespace) => quotas.of(namespace).letterKeptCountMax,
      boxes: () => replica.usage.letterBoxes(),
      tell: (record, done) => this.events.letterDropped(record, done),
      end,
      onArmed,
      onDropped: () => metrics.lettersDropped.add(),
    });
  }
}

function ignore(): void {}
