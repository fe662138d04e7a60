/**
 * News of the records here for other members: of every record that changes, ends or was not confirmed. The messages
 * that miss a member are kept in `unconfirmed.ts`, and the records that have to move in `resync.ts` and `hand-off.ts`.
 */
import { type Clock, State, type TimerRecord } from '@carillon/core';
import type { Metrics } from '../metrics/metrics.ts';
import type { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import type { UnconfirmedNews } from '../replication/write.ts';
import type { Numbered } from '../replication/wire/parts.ts';
import { sameNames } from '../timer/merge.ts';
import type { Holders } from './holders.ts';
import type { Membership } from './membership.ts';
import type { Repair } from './repair.ts';
import { copyResult, isTold, tellUnconfirmed } from './unconfirmed.ts';

export interface NewsParts {
  readonly self: string;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** null: alone. */
  readonly peers: Peers | null;
  readonly membership: Pick<Membership, 'view'>;
  readonly holders: Pick<Holders, 'desired' | 'othersOf'>;
  /** null: not started yet. */
  readonly replica: () => Replica | null;
  /** null: alone, or not started yet. */
  readonly repair: () => Repair | null;
}

export class RecordNews {
  private readonly parts: NewsParts;

  constructor(parts: NewsParts) {
    this.parts = parts;
  }

  /** A record came in or moved on: see that it is where it belongs. `wanted`: `desired` of it, if known already. */
  changed(record: TimerRecord, wanted?: readonly string[]): void {
    const { self, holders } = this.parts;
    const repair = this.parts.repair();
    if (repair === null) return;
    // A former replica learns of a change: it keeps its copy until the present ones have theirs.
    if (!record.replicas.includes(self)) repair.handOff.add(record);
    const right = wanted ?? holders.desired(record);
    if (sameNames(record.replicas, right)) return;
    repair.resync.noteIrregular(record);
    this.tellUnlisted(record, right);
  }

  /**
   * A change came by way of a member with another view, which did not ask the members that this view wants. One of them
   * may hold the timer as it was, and pop it. One that does not hold it does not take it: the record moves by resync.
   */
  private tellUnlisted(record: TimerRecord, wanted: readonly string[]): void {
    const { self, peers } = this.parts;
    for (const name of wanted) {
      if (name === self || record.replicas.includes(name)) continue;
      peers?.send(name, { type: 'store', mode: 'update', record }, () => undefined);
    }
  }

  /**
   * Sends a new state of a record to the other replicas; a state that one of them misses is sent again later.
   * `unlisted`: other members that have it. One that has not heard of this member yet would not ask it before it pops.
   */
  tell(record: TimerRecord, unlisted: readonly string[] = []): void {
    const { peers, holders, metrics } = this.parts;
    const repair = this.parts.repair();
    if (peers === null || repair === null) return;
    const others = holders.othersOf(record);
    for (const name of unlisted) {
      if (others.includes(name)) continue;
      peers.send(name, { type: 'store', mode: 'update', record }, () => undefined);
    }
    for (const name of others) {
      peers.send(name, { type: 'store', mode: 'any', record }, (answer) => {
        metrics.copies.add(copyResult(answer));
        if (!isTold(answer)) repair.unconfirmed.add(name, record);
      });
    }
  }

  /**
   * Some members did not confirm a record. One holder brings them a new timer; every holder brings them a change, as
   * they would pop the timer as it was.
   */
  unconfirmed(news: UnconfirmedNews): void {
    const { self, peers } = this.parts;
    if (peers === null) return;
    const others = news.holders.filter((name) => name !== self);
    const isHolder = others.length < news.holders.length;
    if (isHolder) this.noteUnconfirmed(news.number, news.names);
    if (!news.isNew)
      for (const name of others) tellUnconfirmed(peers, { ...news, holders: [name] });
    else if (!isHolder) tellUnconfirmed(peers, news);
  }

  /** This member brings the record to the named ones. */
  noteUnconfirmed(number: Numbered, names: readonly string[]): void {
    const { view } = this.parts.membership;
    const repair = this.parts.repair();
    if (repair === null) return;
    for (const name of names)
      if (view.member(name) !== undefined) repair.unconfirmed.add(name, number);
    repair.unconfirmed.pushAll();
  }

  /** A tombstone's or dead letter's time is over. */
  end(record: TimerRecord): void {
    const replica = this.parts.replica();
    const repair = this.parts.repair();
    if (replica === null) return;
    if (record.state === State.dead) {
      const dueMs = this.parts.clock.now();
      const ended = { ...record, state: State.tombstone, dueMs, body: new Uint8Array(0) };
      replica.write(ended);
      this.tell(ended);
    } else if (repair === null) replica.drop(record);
    else repair.handOff.bury(record);
  }
}
