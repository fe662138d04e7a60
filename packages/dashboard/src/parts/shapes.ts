/**
 * The data that a member sends to the dashboard: the events of `/events` and the answers of its API. Only shown fields
 * are named.
 */

export interface MemberShape {
  readonly name: string;
  readonly address: string;
  readonly phase: string;
  readonly weight: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether this is the member that serves the page. */
  readonly self: boolean;
  readonly reachable: boolean;
  readonly 'clock-offset-ms': number | null;
  readonly timers: number | null;
  readonly primaries: number | null;
  /** Whether damage was found on its disk since it started; null: not heard. */
  readonly disk: 'whole' | 'mending' | 'mended' | 'lost' | null;
  /** null: it does not tell. */
  readonly load: LoadShape | null;
  /**
   * Counts of the letters and timers of which the member is the primary, and of the answers to its callbacks since it
   * started. null: the member does not tell.
   */
  readonly 'dead-letters': number | null;
  readonly retrying: number | null;
  readonly answers: Readonly<Record<string, number>> | null;
}

/** Load of one member over the last ten seconds. */
export interface LoadShape {
  readonly 'pops-per-second': number;
  readonly 'lateness-p50-ms': number | null;
  readonly 'lateness-p99-ms': number | null;
  readonly 'lag-ms': number | null;
}

export interface ClusterShape {
  readonly revision: number;
  readonly source: string;
  readonly members: readonly MemberShape[];
  readonly resync: {
    readonly running: boolean;
    readonly checked: number;
    readonly total: number;
    readonly moved: number;
  };
  readonly repair: { readonly 'unconfirmed-records': number; readonly 'under-replicated': number };
  /** Damage on the disk of the member that serves the page; null: none was found. */
  readonly damage: DamageShape | null;
}

export interface DamageShape {
  readonly 'entries-lost': number;
  readonly 'more-lost': boolean;
  readonly 'timers-lost': number | null;
  readonly 'records-fetched': number;
}

/**
 * A second, or a step of a longer range, of the member that serves the page, and of all members together. Counts are
 * counts a second.
 */
export interface Sample {
  readonly at: number;
  readonly delivered: number;
  readonly retried: number;
  readonly dead: number;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly lag: number;
  readonly all: {
    readonly pops: number;
    readonly retried: number;
    readonly dead: number;
    readonly p50: number | null;
    readonly p99: number | null;
  };
}

export interface Snapshot {
  readonly self: string;
  readonly version: string;
  /** Replicas of a timer that names no factor. */
  readonly factor: number;
  readonly unready: string | null;
  readonly cluster: ClusterShape;
  readonly callbacks: {
    readonly 'in-flight': number;
    readonly queued: number;
  };
  readonly sample: Sample;
}

export interface TimingShape {
  readonly interval?: number;
  readonly 'repeat-for'?: number;
  readonly at?: string;
  readonly cron?: string;
  readonly timezone?: string;
  readonly until?: string;
  readonly count?: number;
  readonly forever?: boolean;
}

export interface CallbackShape {
  readonly http: {
    readonly uri: string;
    readonly opaque?: string;
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly timeout?: number;
    readonly batch?: boolean;
  };
  readonly retry?: RetryShape;
}

/** Times are seconds. */
export interface RetryShape {
  readonly limit?: number;
  readonly base?: number;
  readonly 'max-wait'?: number;
  readonly 'max-attempts'?: number;
}

/** When a timer would pop if it were set now. */
export interface PreviewShape {
  readonly timezone: string;
  readonly pops: readonly { readonly due: string; readonly local: string }[];
  readonly more: boolean;
}

export interface TimerShape {
  readonly id: string;
  readonly state: string;
  readonly timing: TimingShape;
  readonly callback: CallbackShape;
  readonly reliability: { readonly 'replication-factor': number };
  readonly tags?: readonly string[];
  readonly statistics?: object;
  readonly set: string;
  readonly sequence: number;
  readonly attempt: number;
  readonly 'next-due': string | null;
  readonly 'next-attempt': string | null;
  readonly 'last-outcome': number | string | null;
  /** Class of the failure of the newest attempt; null or not there: none. */
  readonly 'last-failure'?: string | null;
  /** First bytes of the failing receiver's answer, or why there was none. */
  readonly 'last-detail'?: string;
  /** The dead letter of the newest pop, where that was given up. Only where one timer is read. */
  readonly 'dead-letter'?: string;
  readonly version: string;
  readonly replicas: readonly string[];
}

/** How a timer ended, as the 404 of its id says. */
export interface EndedShape {
  readonly ended?: 'cancelled' | 'delivered' | 'given-up';
  readonly 'ended-at'?: string;
  readonly 'dead-letter'?: string;
}

interface AttemptShape {
  readonly pop: number;
  readonly attempt: number;
  readonly at: string;
  readonly 'lateness-ms': number;
  readonly 'took-ms': number;
  readonly status: number | string;
  /** From a member of an earlier release neither is there. */
  readonly failure?: string | null;
  readonly detail?: string;
  readonly member: string;
}

interface HistoryCommon {
  readonly at: string;
  /** Number of the timer: its id without replicas and factor. */
  readonly timer: string;
  readonly member: string;
}

export interface HistoryAttemptShape extends HistoryCommon, AttemptShape {
  readonly kind: 'attempt';
  /** The place of the member among the replicas; 0: it was the primary. */
  readonly replica: number;
}

export interface HistoryChangeShape extends HistoryCommon {
  readonly kind: 'change';
  readonly action: string;
  /** Name of the token; null: none was asked for. */
  readonly actor: string | null;
  readonly tag: string | null;
  readonly pop: number | null;
}

export type HistoryEntryShape = HistoryAttemptShape | HistoryChangeShape;

export interface LockShape {
  readonly key: string;
  readonly holder: string | null;
  readonly token: string | null;
  readonly waiters: readonly string[];
}

export interface RingShape {
  readonly name: string;
  readonly problem: string | null;
  /** null: there is no such ring. */
  readonly slots: number | null;
  readonly 'free-slots': number | null;
  readonly members: readonly {
    readonly name: string;
    readonly phase: string;
    readonly slots: number;
  }[];
  readonly 'lock-count': number;
  readonly locks: readonly LockShape[];
}

export interface LocksShape {
  readonly connected: boolean;
  readonly rings: readonly RingShape[];
}

export interface FindingShape {
  readonly id: string;
  readonly weight: string;
  /** null: the whole cluster. */
  readonly member: string | null;
  readonly says: string;
  readonly do: string;
  /** Origin of the receiver that it is about. */
  readonly receiver?: string;
}

/** So many of so many. */
export interface ShareShape {
  readonly now: number;
  readonly max: number;
}

/** Facts that a member tells the doctor. */
export interface DoctorFacts {
  readonly name: string;
  readonly release: string;
  readonly 'clock-offset-ms': number | null;
  readonly 'disk-room': { readonly 'free-bytes': number } | null;
  readonly 'fsync-p99-ms': number | null;
  readonly 'lag-p99-ms': number | null;
  readonly 'open-files': ShareShape | null;
  readonly connections: ShareShape;
  readonly timers: ShareShape;
  readonly letters: ShareShape;
}

export interface DoctorShape {
  readonly at: string;
  /** Gravest first. */
  readonly findings: readonly FindingShape[];
  readonly members: readonly DoctorFacts[];
}

export interface DeadLetterShape {
  readonly id: string;
  readonly timer: string;
  readonly callback: CallbackShape;
  readonly sequence: number;
  readonly due: string;
  readonly attempts: number;
  readonly reason: string;
}

/** Dead letters by receiver and failure, most first. */
export interface LetterSummaryShape {
  readonly total: number;
  readonly groups: readonly {
    readonly receiver: string;
    readonly failure: string;
    readonly count: number;
    readonly newest: string;
  }[];
  readonly missing: readonly string[];
}

export interface PageShape<T> {
  readonly items: readonly T[];
  readonly cursor: string | null;
  /** Members that did not answer. */
  readonly missing: readonly string[];
}
