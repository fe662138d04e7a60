/**
 * P2, no pop is lost: when the run is over, every pop of an acknowledged timer that nobody replaced or cancelled was taken
 * by its receiver, or lies in a dead letter that any member shows.
 */
import type { SeededRandom } from '@carillon/core/testing';
import type { Client } from '../client.ts';
import { isLastWord, type Operation, opaqueOf } from '../history.ts';
import type { Checker, Judge } from '../judge.ts';
import type { Pops } from './pops.ts';

/** Everything is whole for so long at the end that a pop due before this must have ended. */
const graceMs = 90_000;

interface Letter {
  readonly opaque: string;
  readonly sequence: number;
  readonly missed: number;
}

export class NoneLost implements Checker {
  private readonly judge: Judge;
  private readonly pops: Pops;
  private readonly client: Client;
  private readonly random: SeededRandom;

  constructor(judge: Judge, pops: Pops, client: Client, random: SeededRandom) {
    this.judge = judge;
    this.pops = pops;
    this.client = client;
    this.random = random;
  }

  async finish(): Promise<void> {
    const letters = await this.letters();
    const { judge } = this;
    const { nowMs } = judge;
    for (const timer of judge.history.timers) {
      const operation = timer.operations.at(-1);
      if (operation === undefined || !this.binding(operation)) continue;
      this.check(operation, letters, nowMs - graceMs);
    }
  }

  /** Whether this is surely what the cluster was told last. */
  private binding(operation: Operation): boolean {
    if (operation.kind === 'cancel') return false;
    return isLastWord(operation) && !this.judge.destroyed(operation);
  }

  private check(operation: Operation, letters: readonly Letter[], untilMs: number): void {
    const { wish, ackMs } = operation;
    if (wish === null || ackMs === null) return;
    const opaque = opaqueOf(operation);
    for (let k = 1; k <= wish.count; k++) {
      const dueMs = ackMs + k * wish.intervalMs;
      if (dueMs + this.judge.steppedMs() > untilMs) return;
      if (this.pops.delivered(operation, k) || letters.some((letter) => covers(letter, opaque, k)))
        continue;
      this.judge.violate(
        'P2',
        `Pop ${k} of ${wish.count} of "${opaque}" (${operation.timer.id}), due at ${dueMs.toFixed(1)}, was never delivered and is no dead letter.`,
      );
      return;
    }
  }

  private async letters(): Promise<Letter[]> {
    const { healthy } = this.judge.cluster;
    if (healthy.length === 0) return [];
    const { name } = this.random.pick(healthy);
    const letters: Letter[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? 'limit=1000' : `limit=1000&cursor=${cursor}`;
      const request = { method: 'GET', path: '/dead-letters', query, headers: {}, body: noBytes };
      const response = await this.client.ask(name, request);
      if (response?.status !== 200) {
        this.judge.violate('P2', `${name} did not show the dead letters: ${response?.status}.`);
        return letters;
      }
      const page = JSON.parse(response.body) as Page;
      for (const letter of page['dead-letters']) {
        const { sequence, missed } = letter;
        letters.push({ opaque: letter.callback.http.opaque, sequence, missed });
      }
      ({ cursor } = page);
    } while (cursor !== null);
    return letters;
  }
}

interface Page {
  readonly 'dead-letters': readonly {
    readonly callback: { readonly http: { readonly opaque: string } };
    readonly sequence: number;
    readonly missed: number;
  }[];
  readonly cursor: string | null;
}

const noBytes = new Uint8Array();

function covers(letter: Letter, opaque: string, sequence: number): boolean {
  return (
    letter.opaque === opaque &&
    sequence <= letter.sequence &&
    sequence >= letter.sequence - letter.missed
  );
}
