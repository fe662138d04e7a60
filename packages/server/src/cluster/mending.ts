/**
 * A member that has lost entries of its journal: compares everything with every other member at once, again and again
 * until nothing newer comes, and until none of its own records is in doubt (see doubt.ts). Then it holds the records
 * that it should, and the damaged files can go.
 *
 * A member that does not answer for long is not waited for: the two compare when it is back, as after any restart.
 */
import type { Cancel, Clock } from '@carillon/core';

const againMs = 500;
/** A view without others may be one that the others have yet to come back to, as after a blackout. */
const aloneMs = 60_000;

export interface MendingParts {
  readonly clock: Clock;
  /** The other members of the view. */
  readonly others: () => readonly string[];
  readonly absent: (name: string) => boolean;
  /**
   * Compares everything with one member; tells how many records came that were missing or newer, null when it broke
   * off.
   */
  readonly compare: (name: string, done: (fetched: number | null) => void) => void;
  readonly doubtfulCount: () => number;
  /** Nothing is missing any more. `asked`: how many members were compared with. */
  readonly onDone: (asked: number) => void;
}

export class Mending {
  private readonly parts: MendingParts;
  private readonly compared = new Set<string>();
  private startedMs = 0;
  private cancel: Cancel = () => {};

  constructor(parts: MendingParts) {
    this.parts = parts;
  }

  start(): void {
    this.startedMs = this.parts.clock.now();
    this.round();
  }

  stop(): void {
    this.cancel();
  }

  private round(): void {
    const { others, compare, clock } = this.parts;
    if (this.isDone) return this.parts.onDone(this.compared.size);
    for (const name of others()) {
      if (this.compared.has(name)) continue;
      compare(name, (fetched) => {
        if (fetched === 0) this.compared.add(name);
      });
    }
    this.cancel = clock.at(clock.now() + againMs, () => this.round());
  }

  private get isDone(): boolean {
    const { clock, others, absent, doubtfulCount } = this.parts;
    const names = others();
    const isAlone = names.length === 0 && clock.now() - this.startedMs >= aloneMs;
    const isAsked = isAlone || this.compared.size > 0;
    const isWaiting = names.some((name) => !this.compared.has(name) && !absent(name));
    return isAsked && !isWaiting && doubtfulCount() === 0;
  }
}
