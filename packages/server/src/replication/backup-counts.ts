/**
 * Records of which this member is a backup, counted by namespace and by the replicas before it. While all of these are
 * silent, this member speaks for the records, so that figures of the cluster do not fall when a member does.
 */
import { invariant, State, type TimerRecord } from '@carillon/core';

/** Records that a member speaks for: it is the first of their replicas that answers. */
export interface SpokenFor {
  /** Live timers. */
  readonly timers: number;
  /** Dead letters. */
  readonly letters: number;
  /** Live timers whose present pop has failed before. */
  readonly retrying: number;
}

type Counted = Pick<TimerRecord, 'namespace' | 'replicas' | 'state' | 'attempt'>;

interface Group {
  readonly namespace: string;
  /** The replicas before this member. */
  readonly before: readonly string[];
  timers: number;
  letters: number;
  retrying: number;
}

export class BackupCounts {
  private readonly groups = new Map<string, Group>();

  /** A record is there from now on (1), or no longer (-1). `position`: of this member among the replicas. */
  count(record: Counted, position: number, by: 1 | -1): void {
    const { namespace, replicas, state, attempt } = record;
    if (position < 1 || state === State.tombstone) return;
    const before = replicas.slice(0, position);
    const key = `${namespace} ${before.join(' ')}`;
    const group = this.groups.get(key) ?? { namespace, before, timers: 0, letters: 0, retrying: 0 };
    if (state === State.dead) group.letters += by;
    else group.timers += by;
    if (state === State.live && attempt > 0) group.retrying += by;
    invariant(Math.min(group.timers, group.letters, group.retrying) >= 0, 'backups count once');
    if (group.timers + group.letters > 0) this.groups.set(key, group);
    else this.groups.delete(key);
  }

  /** Of one namespace; null: of all. */
  spokenFor(isSilent: (name: string) => boolean, namespace: string | null = null): SpokenFor {
    const sum = { timers: 0, letters: 0, retrying: 0 };
    for (const group of this.groups.values()) {
      if (namespace !== null && group.namespace !== namespace) continue;
      if (!group.before.every(isSilent)) continue;
      sum.timers += group.timers;
      sum.letters += group.letters;
      sum.retrying += group.retrying;
    }
    return sum;
  }
}
