/**
 * P2, no pop is lost: when the run is over, every pop of an acknowledged timer that was neither replaced nor
 * cancelled was taken by its receiver, or lies in a dead letter that any member shows, or lay in one that an operator
 * discarded. No namespace of a run asks for a retention, so no letter is dropped. Without a fault a discarded letter
 * stays away. The judge decides which change is the last: clients that know nothing of each other, on two sides of a
 * split, are ordered by clocks. When a pop by the wall clock is due at the latest, and how many a cron pattern with an
 * end has at least, `dues.ts` says.
 */
import type { SeededRandom } from '@carillon/core/testing';
import type { Client } from '../client.ts';
import { bodyOf, covers, firstSentMs, type Letter, type Operation, opaqueOf } from '../history.ts';
import { type Checker, type Judge, noticeMs } from '../judge.ts';
import { Dues } from './dues.ts';
import type { Pops } from './pops.ts';

/** Everything is whole for so long at the end that a pop due before this must have ended. */
const graceMs = 90_000;

const kinds = ['down', 'paused', 'network', 'disk', 'view'] as const;

export class NoneLost implements Checker {
  private readonly judge: Judge;
  private readonly dues: Dues;
  private readonly pops: Pops;
  private readonly client: Client;
  private readonly random: SeededRandom;

  constructor(judge: Judge, pops: Pops, client: Client, random: SeededRandom) {
    this.judge = judge;
    this.dues = new Dues(judge);
    this.pops = pops;
    this.client = client;
    this.random = random;
  }

  async finish(): Promise<void> {
    const letters = await this.letters();
    const { judge } = this;
    this.checkDiscarded(letters);
    const { nowMs } = judge;
    for (const timer of judge.history.timers) {
      const operation = timer.operations.at(-1);
      if (operation === undefined || !this.binding(operation)) continue;
      this.check(operation, letters, nowMs - graceMs);
    }
  }

  private checkDiscarded(letters: readonly Letter[]): void {
    const { judge } = this;
    const ids = new Set(letters.map(({ id }) => id.slice(0, 16)));
    for (const operation of judge.history.letters) {
      const { does, ackMs, letter } = operation;
      if (does !== 'discard' || ackMs === null || !ids.has(letter.id.slice(0, 16))) continue;
      if (judge.faultAnywhere(kinds, firstSentMs(operation) - noticeMs, judge.nowMs) !== null)
        continue;
      judge.violate('P6', `The letter ${letter.id} was discarded at ${ackMs} and is back.`);
    }
  }

  /** Whether this operation is surely the last change of its timer, and its copies were not destroyed. */
  private binding(operation: Operation): boolean {
    if (operation.kind === 'cancel') return false;
    const { judge } = this;
    if (judge.destroyed(operation) || judge.lostCopies.hasLetterOf(operation)) return false;
    return judge.isLastWord(operation);
  }

  private check(operation: Operation, letters: readonly Letter[], untilMs: number): void {
    const { wish, ackMs } = operation;
    if (wish === null || ackMs === null) return;
    const opaque = opaqueOf(operation);
    const body = bodyOf(operation);
    const count = this.dues.countMin(operation);
    for (let k = 1; k <= count; k++) {
      const dueMs = this.dues.dueByMs(operation, k);
      if (dueMs + this.judge.steppedMs() > untilMs) return;
      const lies = letters.some((letter) => covers(letter, body, k));
      if (this.pops.delivered(operation, k) || lies || this.discarded(body, k)) continue;
      this.judge.violate(
        'P2',
        `Pop ${k} of ${count} of "${opaque}" (${operation.timer.id}), due at ${dueMs.toFixed(1)}, was never delivered and is no dead letter.`,
      );
      return;
    }
  }

  private discarded(body: string, sequence: number): boolean {
    const { history, nowMs } = this.judge;
    return history.asked('discard', { body, sequence }, nowMs);
  }

  private async letters(): Promise<readonly Letter[]> {
    const { healthy } = this.judge.cluster;
    if (healthy.length === 0) return [];
    const { name } = this.random.pick(healthy);
    const letters = await this.client.letters(name);
    if (letters === null) this.judge.violate('P2', `${name} did not show the dead letters.`);
    return letters ?? [];
  }
}
