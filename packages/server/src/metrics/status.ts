/** The state of members and of the cluster, as the API and the dashboard show it. */
import type { Load } from './load.ts';

/**
 * whole: no damage was found. mending: lost records are being fetched, or damaged files are being replaced. mended:
 * every record that another member had is here again. lost: timers are gone of which no other member has a copy, or
 * there was no other member to ask.
 */
export type DiskState = 'whole' | 'mending' | 'mended' | 'lost';

export interface DamageView {
  readonly state: DiskState;
  /** When it was found last, by the wall clock. */
  readonly foundMs: number;
  /** Damaged stretches and missing files. */
  readonly stretches: number;
  readonly entriesLost: number;
  /** True: more entries were lost that cannot be counted. */
  readonly moreLost: boolean;
  /** Timers that are gone because no other member had a copy, at most; null: that cannot be told. */
  readonly timersLost: number | null;
  readonly recordsFetched: number;
}

/** Figures of a member; their sums over all members are figures of the cluster. */
export interface Figures {
  /** Dead letters, and timers whose present pop has failed before, that it speaks for. */
  readonly letters: number;
  readonly retrying: number;
  /** Answers to its callbacks since it started, by result. */
  readonly answers: Readonly<Record<string, number>>;
}

export interface MemberView {
  readonly name: string;
  readonly address: string;
  readonly phase: string;
  readonly weight: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly self: boolean;
  /** Whether this member hears from it; true for itself. */
  readonly reachable: boolean;
  readonly clockOffsetMs: number | null;
  /**
   * Live timers it holds, and how many of them as primary or as the first replica that answers; null of a member that
   * is not heard.
   */
  readonly timers: number | null;
  readonly primaries: number | null;
  /** null: it is not heard, or does not tell. */
  readonly figures: Figures | null;
  /** Whether damage was found on its disk since it started, as last heard. */
  readonly disk: DiskState | null;
  /** How busy it is; null of a member that is not heard. */
  readonly load: Load | null;
}

export interface ClusterView {
  readonly viewId: string;
  readonly revision: number;
  readonly source: string;
  /** The rule that places timers on the members. */
  readonly placementId: string;
  /** Replicas of a timer whose client names no factor. */
  readonly defaultFactor: number;
  /** A sentence for each member that distinct domains make hot. */
  readonly hot: readonly string[];
  readonly members: readonly MemberView[];
  readonly resync: {
    readonly running: boolean;
    readonly checked: number;
    readonly total: number;
    readonly moved: number;
  };
  readonly repair: { readonly unconfirmedRecords: number; readonly underReplicated: number };
  /** Damage found on the disk of the member that answers; null: none. */
  readonly damage: DamageView | null;
}
