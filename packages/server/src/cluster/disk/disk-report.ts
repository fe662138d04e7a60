/** Damage to this member's disk since it started: how much was lost, and how much of that is back. */
import type { DamageView, DiskState } from '../../metrics/status.ts';
import type { Lost } from '../../store/journal/files/contents.ts';

export interface Damage {
  readonly stretches: number;
  readonly lost: Lost | null;
  /** Timers without another copy that are gone; null: that cannot be told. */
  readonly timersLost: number | null;
}

export class DiskReport {
  private readonly rewriting: () => boolean;
  private foundMs: number | null = null;
  private stretches = 0;
  private lost: Lost | null = null;
  private goneTimers: number | null = 0;
  private fetched = 0;
  private isFetching = false;
  private isAlone = false;

  /** `rewriting`: whether damaged files are still to be replaced. */
  constructor(rewriting: () => boolean) {
    this.rewriting = rewriting;
  }

  get state(): DiskState {
    if (this.foundMs === null) return 'whole';
    if (this.isFetching || this.rewriting()) return 'mending';
    const isGone = this.isAlone || (this.goneTimers ?? 0) > 0;
    return isGone && this.lost !== null ? 'lost' : 'mended';
  }

  get entriesLost(): number {
    return this.lost?.entries ?? 0;
  }

  get timersLost(): number | null {
    return this.goneTimers;
  }

  found(damage: Damage, wallMs: number): void {
    this.foundMs = wallMs;
    this.stretches += damage.stretches;
    if (damage.lost !== null) this.goneTimers = damage.timersLost;
    this.lost ??= damage.lost;
    this.isFetching ||= damage.lost !== null;
  }

  addFetched(): void {
    this.fetched++;
  }

  /** `asked`: how many other members were asked for the missing records. */
  settle(asked: number): void {
    this.isFetching = false;
    this.isAlone = asked === 0;
  }

  /** null: no damage was found. */
  view(): DamageView | null {
    const { foundMs, stretches, lost, fetched } = this;
    if (foundMs === null) return null;
    return {
      state: this.state,
      foundMs,
      stretches,
      entriesLost: this.entriesLost,
      moreLost: lost?.more ?? false,
      timersLost: this.goneTimers,
      recordsFetched: fetched,
    };
  }
}
