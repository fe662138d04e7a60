/**
 * The calls from the HTTP side to the rest of a member. `set.ts` provides sets, `coordinator.ts` all else that clients
 * ask of timers, `member.ts` the control of the member; tests may give a stand-in for all three. The api folder turns
 * bytes into these calls and their results into bytes, and holds no timer state.
 */
import { type ClusterView } from '../metrics/status.ts';
import { type TimerState } from '../timer/state.ts';
import type { CarillonError, Definition, TimerId, Version } from '@carillon/core';
import type { Attempt } from '../timer/attempt.ts';
import type { Action } from '../history/entry.ts';
import type { Numbered } from '../replication/wire/parts.ts';

/** How many replicas confirmed, of how many wanted. */
export interface Copies {
  readonly have: number;
  readonly wanted: number;
}

export interface SetRequest {
  readonly namespace: string;
  /** null: POST, the member chooses the number. */
  readonly id: TimerId | null;
  readonly definition: Definition;
  /** null: the id's, or the member's default. */
  readonly factor: number | null;
  readonly idempotencyKey: string | null;
  /** The name of the caller's token, for the history; default: none. */
  readonly actor?: string;
  /** The timer whose callback this one makes at once, for the history; default: none. */
  readonly runs?: TimerId;
}

/** A change that replicas confirmed. */
export interface Changed {
  /** The refreshed id. */
  readonly id: string;
  readonly copies: Copies;
  /** Given to the change; it wins over every lower one. */
  readonly version: Version;
}

export type SetOutcome =
  | (Changed & {
      readonly ok: true;
      /** The timer as it now is; most clients do not ask. */
      readonly timer: () => TimerView;
    })
  | { readonly ok: false; readonly error: CarillonError };

export type ChangeOutcome =
  | (Changed & { readonly ok: true })
  | { readonly ok: false; readonly error: CarillonError };

/** A timer as clients see it. Times are wall-clock milliseconds. */
export interface TimerView {
  /** The refreshed id: bloom filter of the present replicas. */
  readonly id: string;
  readonly namespace: string;
  readonly definition: Definition;
  readonly state: TimerState;
  readonly sequence: number;
  readonly attempt: number;
  readonly setMs: number;
  readonly nextDueMs: number | null;
  readonly nextAttemptMs: number | null;
  /** `<wall ms>.<tie>`. */
  readonly version: string;
  readonly factor: number;
  readonly replicas: readonly string[];
  /** An HTTP status or a word (refused, timeout …); null before the first attempt. */
  readonly lastOutcome: number | string | null;
  /** The class of the failure of the newest attempt (`5xx`, refused …); null: it was a success, or there was none. */
  readonly lastFailure: string | null;
  /** The first bytes of the failing receiver's answer, or why there was none; null where neither is remembered. */
  readonly lastDetail: string | null;
}

/** A timer that is to be read by itself. */
export interface OneTimerView extends TimerView {
  /**
   * The id of the dead letter of its newest pop; null: that pop was delivered, or its letter was sent again or
   * discarded.
   */
  readonly deadLetter: string | null;
}

/** How a timer ended, for as long as its end is remembered. */
export interface EndedView {
  readonly how: 'cancelled' | 'delivered' | 'given-up';
  /** Wall-clock milliseconds. */
  readonly atMs: number;
  readonly pops: number;
  /** As in `OneTimerView`. */
  readonly deadLetter: string | null;
}

export interface ListQuery {
  readonly namespace: string;
  readonly tag: string | null;
  /** The beginning of a tag; null: any. */
  readonly tagPrefix: string | null;
  /** failing: pending, although the newest pop was given up. */
  readonly state: TimerState | 'failing' | null;
  /** Origin of the callback, or with whole first segments of its path; null: any. */
  readonly receiver: string | null;
  /** Class of the newest attempt's failure or HTTP status; null: any. */
  readonly failure: string | null;
  /** due: by the time of the next attempt. null: any order that stays the same. */
  readonly order: 'due' | null;
  /** Only timers whose next attempt is at or after the one and before the other, in wall-clock milliseconds. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** Whether all timers that match are to be counted. */
  readonly wantTotal: boolean;
  readonly limit: number;
  /** As an earlier page gave it out. */
  readonly cursor: string | null;
  /** Only timers that this member holds; null: any. */
  readonly member: string | null;
  /** As which of their replicas it holds them; null: either. */
  readonly role: 'primary' | 'backup' | null;
}

/** Which dead letters. */
export interface LetterFilter {
  readonly namespace: string;
  readonly tag: string | null;
  /** Origin of the callback, or with whole first segments of its path; null: any. */
  readonly receiver: string | null;
  /** Class of the failure or HTTP status; null: any. */
  readonly failure: string | null;
}

export type LetterQuery = LetterFilter & Pick<ListQuery, 'limit' | 'cursor'>;

/** Dead letters of one receiver with one failure. Times are wall-clock milliseconds of giving up. */
export interface LetterGroup {
  /** Origin; '' for further receivers, where there are very many. */
  readonly receiver: string;
  readonly failure: string;
  readonly count: number;
  readonly oldestMs: number;
  readonly newestMs: number;
}

export interface LetterSummary {
  /** Most letters first. */
  readonly groups: readonly LetterGroup[];
  readonly missing: readonly string[];
}

/** One try to deliver a pop, as the member that made it remembers it. */
export interface AttemptView extends Omit<Attempt, 'outcome'> {
  /** An HTTP status or a word (refused, timeout …). */
  readonly status: number | string;
  /** The class of its failure; null: a success. */
  readonly failure: string | null;
  readonly member: string;
}

export interface AttemptsView {
  /** Oldest first. */
  readonly attempts: readonly AttemptView[];
  /** Members that did not answer; attempts of theirs may be missing. */
  readonly missing: readonly string[];
}

export interface Page<T> {
  readonly items: readonly T[];
  /** null: this was the last page. */
  readonly cursor: string | null;
  /** Members that did not answer; their timers may be missing from the page. */
  readonly missing: readonly string[];
  /** How many match in all; not exact: about so many. Only where it was asked for. */
  readonly total?: { readonly count: number; readonly exact: boolean } | null;
}

/** Ids are the ones that clients of the namespace know. */
export interface SetService {
  /** Never rejects for a user's mistake: the outcome tells the mistake. */
  set(request: SetRequest): Promise<SetOutcome>;
  /** One outcome per request, in order. */
  setMany(requests: readonly SetRequest[]): Promise<readonly ChangeOutcome[]>;
}

/**
 * Ids and cursors are the ones that clients of the namespace know. `actor`: the name of the caller's token, for the
 * history.
 */
export interface TimerService {
  /**
   * Every later change through this member gets a higher version than this one. Throws CarillonError for a version too
   * far ahead of the clock.
   */
  saw(seen: Version): void;
  /** Rejects with CarillonError when no replica confirmed. */
  cancel(namespace: string, id: TimerId, actor?: string): Promise<Changed>;
  get(namespace: string, id: TimerId): Promise<OneTimerView | null>;
  /** How a timer that `get` does not know has ended; null: that is not remembered, or there never was one. */
  ended(namespace: string, id: TimerId): Promise<EndedView | null>;
  deadLetter(namespace: string, id: TimerId): Promise<TimerView | null>;
  list(query: ListQuery): Promise<Page<TimerView>>;
  /** Attempts that members remember; also of a timer that has ended. */
  attempts(namespace: string, id: TimerId): Promise<AttemptsView>;
  /** How many were cancelled, and a version that none of the cancels is above. */
  cancelByTag(
    namespace: string,
    tag: string,
    actor?: string,
  ): Promise<{ readonly count: number; readonly version: Version }>;
  deadLetters(query: LetterQuery): Promise<Page<TimerView>>;
  letterSummary(filter: LetterFilter): Promise<LetterSummary>;
  /** The version of the change; null when there is no such dead letter. */
  redeliver(namespace: string, id: TimerId, actor?: string): Promise<Version | null>;
  discard(namespace: string, id: TimerId, actor?: string): Promise<Version | null>;
  /** Many dead letters that match: how many, and whether there are more. */
  discardMany(
    filter: LetterFilter,
    actor?: string,
  ): Promise<{ readonly count: number; readonly more: boolean; readonly version: Version }>;
}

/** One entry of the history, as clients see it. */
export type HistoryEntryView = {
  readonly namespace: string;
  /** The number of the timer, in 16 hex digits. */
  readonly timer: string;
  /** The member that made the attempt or took the request. */
  readonly member: string;
  /** Wall-clock milliseconds. */
  readonly atMs: number;
} & (
  | ({ readonly kind: 'attempt' } & Omit<AttemptView, 'atMs' | 'member'> & {
        /** The position of the member among the replicas; 0: it was the primary. */
        readonly position: number;
      })
  | {
      readonly kind: 'change';
      readonly action: Action;
      /** The name of the token; null: none was asked for, or the member acted by itself. */
      readonly actor: string | null;
      /** By which tag the timer was chosen; null: by its id. */
      readonly tag: string | null;
      /** The pop that it is about; null: the timer as a whole. */
      readonly sequence: number | null;
      readonly version: string;
    }
);

export interface HistoryQuery {
  /** null: all namespaces, which only an audit may be asked for. */
  readonly namespace: string | null;
  /** null: of all timers. */
  readonly id: Numbered | null;
  readonly actor: string | null;
  readonly action: Action | null;
  /** Wall-clock milliseconds. */
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly limit: number;
  /** As an earlier page gave it out. */
  readonly cursor: string | null;
}

/** Attempts and changes that members keep on disk, for a bounded time. */
export interface HistoryService {
  /** Everything about one timer, the newest first. */
  history(query: HistoryQuery): Promise<Page<HistoryEntryView>>;
  /** Changes of all timers, the newest first. */
  audit(query: HistoryQuery): Promise<Page<HistoryEntryView>>;
  /** Erases the stored answers of the namespace's receivers; tells the members that did not do it. */
  eraseAnswers(namespace: string, actor?: string): Promise<readonly string[]>;
  /** Notes that an operator asked this member for it, under the namespace of the request. */
  noteOrder(action: 'drain' | 'resync', namespace: string, actor: string): void;
}

/** The member as operators see and steer it. */
export interface MemberControl {
  cluster(): ClusterView;
  /** Makes this member leave: resolves when nothing is left on it. */
  drain(): Promise<void>;
  /** Begins to look at every record of this member anew; `cluster()` tells how far it is. */
  resync(): void;
  /** null: ready; otherwise a sentence saying why not. */
  unready(): string | null;
}
