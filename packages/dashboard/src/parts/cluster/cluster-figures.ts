/** Figures of the whole cluster, from the members that are heard. Pure. */
import type { MemberShape } from '../shapes.ts';

export interface ClusterFigures {
  /** Timers that will pop, each counted once. */
  readonly timers: number;
  readonly letters: number;
  readonly retrying: number;
  /** Answers to callbacks since the members started, by result. */
  readonly answers: Readonly<Record<string, number>>;
  /** Which members are counted, in words. */
  readonly of: string;
  /** Whether figures of a member are missing: the sums are the least that there may be. */
  readonly atLeast: boolean;
}

export function clusterFigures(members: readonly MemberShape[]): ClusterFigures {
  const heard = members.filter(({ reachable }) => reachable);
  const silent = members.filter(({ reachable }) => !reachable).map(({ name }) => name);
  const answers: Record<string, number> = {};
  for (const member of heard) {
    for (const [result, count] of Object.entries(member.answers ?? {})) {
      answers[result] = (answers[result] ?? 0) + count;
    }
  }
  const sum = (read: (member: MemberShape) => number | null | undefined): number =>
    heard.reduce((all, member) => all + (read(member) ?? 0), 0);
  return {
    timers: sum(({ primaries }) => primaries),
    letters: sum((member) => member['dead-letters']),
    retrying: sum(({ retrying }) => retrying),
    answers,
    of: silent.length === 0 ? 'in the cluster' : `no word from ${silent.join(', ')}`,
    atLeast: silent.length > 0,
  };
}

/** The part of all known copies that these members hold; null: none of them tells. */
export function shareOf(
  members: readonly Pick<MemberShape, 'timers'>[],
  total: number,
): number | null {
  const told = members.flatMap(({ timers }) => (timers === null ? [] : [timers]));
  if (told.length === 0) return null;
  return total === 0 ? 0 : told.reduce((sum, timers) => sum + timers, 0) / total;
}
