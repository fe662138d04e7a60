/** Entries of the history in words. */
import { milliseconds } from '../../format.ts';
import type {
  HistoryAttemptShape,
  HistoryChangeShape,
  HistoryEntryShape,
} from '../../parts/shapes.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'quiet';

const actionWords: Readonly<Record<string, string>> = {
  set: 'Set',
  replace: 'Replaced',
  cancel: 'Cancelled',
  run: 'Run now',
  'give-up': 'Given up: a dead letter',
  redeliver: 'Dead letter sent again',
  discard: 'Dead letter dropped',
  drop: 'Dead letter dropped by retention',
  erase: 'Stored answers erased',
  drain: 'Member told to drain',
  resync: 'Resync asked for',
};
/** Changes of a namespace, or of a member, and of no single timer. */
const wholeActions: ReadonlySet<string> = new Set(['erase', 'drain', 'resync']);
/** Changes that members make by themselves. */
const byMembers: ReadonlySet<string> = new Set(['give-up', 'drop']);
/** Changes of one pop each, that come by the hundred. */
const ofPops: ReadonlySet<string> = new Set(['give-up', 'drop', 'redeliver', 'discard']);
const actionTones: Readonly<Record<string, Tone>> = {
  cancel: 'warn',
  erase: 'warn',
  drain: 'warn',
  'give-up': 'bad',
  drop: 'bad',
};

export const actions: readonly string[] = Object.keys(actionWords);

export function actionText(action: string): string {
  return actionWords[action] ?? action;
}

/** The things that a row with several changes counts. */
export function countedName({ action }: HistoryChangeShape): string {
  return ofPops.has(action) ? 'pop' : 'timer';
}

export function isOfTimer({ action }: HistoryChangeShape): boolean {
  return !wholeActions.has(action);
}

export function titleOfEntry(entry: HistoryEntryShape): string {
  if (entry.kind === 'attempt') {
    const again = entry.attempt > 1 ? `, attempt ${entry.attempt}` : '';
    return `Pop ${entry.pop}${again}`;
  }
  const words = actionText(entry.action);
  if (entry.pop === null) return words;
  const letter = 'Dead letter';
  if (words.startsWith(letter)) return `${letter} of pop ${entry.pop}${words.slice(letter.length)}`;
  return `${words} of pop ${entry.pop}`;
}

export function toneOf(entry: HistoryEntryShape): Tone {
  if (entry.kind === 'change') return actionTones[entry.action] ?? 'quiet';
  const { status } = entry;
  return typeof status === 'number' && status >= 200 && status < 300 ? 'good' : 'bad';
}

/** The token of a change; '' where there is none. */
export function byText({ actor, tag }: HistoryChangeShape): string {
  const by = actor === null ? '' : `by ${actor}`;
  return tag === null ? by : `${by} ${by === '' ? 'by' : 'through'} the tag ${tag}`.trim();
}

/** How late, how long, and a word where a backup made the call. */
export function measureText(entry: HistoryAttemptShape): string {
  const late = `${milliseconds(entry['lateness-ms'])} late`;
  return `${late}, took ${milliseconds(entry['took-ms'])}`;
}

/** A row of the audit: one change, or neighbours that belong together. */
export interface AuditRow {
  readonly first: HistoryChangeShape;
  readonly count: number;
  /** Members that took the request, or acted by themselves. */
  readonly members: readonly string[];
}

/**
 * Neighbours that one request by tag made, and changes of pops by the same token or by members themselves, are one row:
 * other changes are not lost among them. `wantsEach`: changes of pops have a row each.
 */
export function auditRows(
  entries: readonly HistoryChangeShape[],
  wantsEach = false,
): readonly AuditRow[] {
  const rows: { readonly first: HistoryChangeShape; count: number; members: string[] }[] = [];
  for (const entry of entries) {
    const last = rows.at(-1);
    const isOfMany = entry.tag !== null || (ofPops.has(entry.action) && !wantsEach);
    if (last !== undefined && isOfMany && keyOf(last.first) === keyOf(entry)) {
      last.count++;
      if (!last.members.includes(entry.member)) last.members.push(entry.member);
    } else rows.push({ first: entry, count: 1, members: [entry.member] });
  }
  return rows;
}

function keyOf({ action, actor, tag, member }: HistoryChangeShape): string {
  if (byMembers.has(action)) return action;
  return JSON.stringify([action, actor, tag, member]);
}
