/** Changes as the history keeps them: the timer, the change, and the token that asked for it. */
import { decodeDefinition, type TimerRecord } from '@carillon/core';
import type { Action, Notes } from '../history/entry.ts';
import type { Numbered } from '../replication/wire/parts.ts';
import type { Instant } from '../timer/schedule.ts';
import type { ClientIds } from './client-ids.ts';

export interface NotingParts {
  /** null: no history is kept. */
  readonly historyLog: Notes | null;
  readonly ids: ClientIds;
  readonly instant: () => Instant;
}

/** A change that a client asked for. */
export interface Asked {
  readonly action: Action;
  /** The name of the token; empty: none was asked for. */
  readonly actor: string;
  /** By which tag the timer was chosen; empty: by its id. */
  readonly tag: string;
  /** Default: now, when it is confirmed. */
  readonly wallMs?: number;
}

/** The timer that a change is about, and which of its pops; 0: the timer as a whole. */
export interface Subject extends Numbered {
  readonly sequence: number;
}

type Changed = Pick<TimerRecord, 'namespace' | 'hi' | 'lo' | 'versionMs' | 'versionTie'>;

/**
 * When a set was asked for, which its version says unless a client has seen a higher one: a timer may pop before all
 * replicas have confirmed it, and was set before it popped.
 */
export function askedMs({ versionMs }: Changed, wallMs: number): number {
  return Math.min(versionMs, wallMs);
}

/** `subject`: where the record itself is not the timer, but a letter of it. */
export function noteChange(
  { historyLog, instant }: NotingParts,
  { namespace, hi, lo, versionMs, versionTie }: Changed,
  { action, actor, tag, wallMs }: Asked,
  subject?: Subject,
): void {
  historyLog?.note({
    kind: 'change',
    wallMs: wallMs ?? instant().wallMs,
    namespace,
    hi: subject?.hi ?? hi,
    lo: subject?.lo ?? lo,
    action,
    versionMs,
    versionTie,
    sequence: subject?.sequence ?? 0,
    actor,
    tag,
  });
}

/** The timer and the pop that a dead letter is of. */
export function letterSubject(ids: ClientIds, letter: TimerRecord): Subject {
  const { origin } = decodeDefinition(letter.body);
  const number = origin === null ? null : ids.parse(letter.namespace, origin.id);
  const { hi, lo } = number ?? letter;
  return { hi, lo, sequence: origin?.sequence ?? 0 };
}
