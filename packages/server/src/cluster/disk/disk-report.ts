/** Damage to this member's disk since it started: how much was lost, and how much of that is back. */
import type { DamageView, DiskState } from '../../metrics/status.ts';
import type { Lost } from '../../store/journal/files/contents.ts';

export class DiskReport {
  private readonly rewriting: () => boolean;
  private foundMs: number | null = null;
  private stretches = 0;
  private lost: Lost | null = null;
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
    return this.isAlone && this.lost !== null ? 'lost' : 'mended';
  }

  get entriesLost(): number {
    return this.lost?.entries ?? 0;
  }

  found(damage: { readonly stretches: number; readonly lost: Lost | null }, wallMs: number): void {
    this.foundMs = wallMs;
    this.stretches += damage.stretches;
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
      recordsFetched: fetched,
    };
  }
}
