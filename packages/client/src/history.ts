/** Entries of the history: attempts and changes that members keep on disk. */
import { type Attempt, Fields, readAttempt } from './shapes.ts';
import { type Instant, optionalInstant } from './timer-spec.ts';

/** The parts that all entries have. */
interface HistoryCommon {
  /** Number of the timer: its id without replicas and factor. */
  readonly timer: string;
  readonly namespace: string;
}

/** One try to deliver a pop. */
export interface HistoryAttempt extends Attempt, HistoryCommon {
  readonly kind: 'attempt';
  /** The place of the member among the replicas: 0 is the primary, others are backups. */
  readonly replica: number;
}

/** A change of a timer, or of a dead letter of it. */
export interface HistoryChange extends HistoryCommon {
  readonly kind: 'change';
  readonly at: Date | null;
  /** The member that took the request. */
  readonly member: string;
  /** set, replace, cancel, run, give-up, redeliver, discard, drop, erase. */
  readonly action: string;
  /** Name of the token that asked for it; null: none. */
  readonly actor: string | null;
  /** The tag by which the timer was chosen; null: by its id. */
  readonly tag: string | null;
  /** The pop that it is about; null: the timer as a whole. */
  readonly pop: number | null;
  readonly version: string;
}

export type HistoryEntry = HistoryAttempt | HistoryChange;

export interface HistoryFilter {
  /** Only entries from this instant on. */
  readonly since?: Instant | undefined;
  /** Only entries up to this instant. */
  readonly until?: Instant | undefined;
}

export interface AuditFilter extends HistoryFilter {
  /** Only changes by the token of this name. */
  readonly actor?: string | undefined;
  /** Only changes of this kind, such as `cancel`. */
  readonly action?: string | undefined;
  /** Changes of all namespaces; the token must be for all of them. */
  readonly allNamespaces?: boolean | undefined;
}

export function auditQuery(filter: AuditFilter) {
  const { since, until, actor, action, allNamespaces } = filter;
  return {
    since: optionalInstant('since', since),
    until: optionalInstant('until', until),
    actor,
    action,
    namespace: allNamespaces === true ? '*' : undefined,
  };
}

export function readHistoryEntry(json: unknown): HistoryEntry {
  const from = new Fields(json);
  const common = { timer: from.text('timer'), namespace: from.text('namespace') };
  if (from.text('kind') === 'attempt') {
    const replica = from.number('replica');
    return { kind: 'attempt', ...common, ...readAttempt(json), replica };
  }
  return {
    kind: 'change',
    ...common,
    at: from.date('at'),
    member: from.text('member'),
    action: from.text('action'),
    actor: from.text('actor') || null,
    tag: from.text('tag') || null,
    pop: from.numberOrNull('pop'),
    version: from.text('version'),
  };
}
