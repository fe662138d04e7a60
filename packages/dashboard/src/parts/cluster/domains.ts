/** Members under the domains that their labels name, as a tree to draw, and the share of each of them. */
import { compileLabelled, levelsOf, type Placer } from '@carillon/placement';
import type { ClusterShape, MemberShape } from '../shapes.ts';

/** The fields of a member that placement needs. */
export interface Placed {
  readonly name: string;
  readonly weight: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** The members that hold timers. A joining member of a members file takes part as soon as it answers. */
export function placedMembers({ members, source }: ClusterShape): readonly MemberShape[] {
  return members.filter(
    ({ phase, reachable }) =>
      phase === 'active' || (phase === 'joining' && source === 'static' && reachable),
  );
}

export interface Domain<M extends Placed> {
  /** region, zone, rack; empty at the top. */
  readonly level: string;
  readonly name: string;
  readonly domains: readonly Domain<M>[];
  /** Members right below; only at the narrowest level. */
  readonly members: readonly M[];
}

const unlabelled = '(none)';

export function domainTree<M extends Placed>(members: readonly M[]): Domain<M> {
  return domain('', '', { members, levels: levelsOf(members) });
}

function domain<M extends Placed>(
  level: string,
  name: string,
  below: { readonly members: readonly M[]; readonly levels: readonly string[] },
): Domain<M> {
  const [next, ...narrower] = below.levels;
  if (next === undefined) return { level, name, domains: [], members: below.members };
  const groups = Map.groupBy(below.members, ({ labels }) => labels[next] ?? unlabelled);
  const domains = [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, inside]) => domain(next, id, { members: inside, levels: narrower }));
  return { level, name, domains, members: [] };
}

/** All members at or below a domain. */
export function membersBelow<M extends Placed>(top: Domain<M>): readonly M[] {
  return [...top.members, ...top.domains.flatMap(membersBelow)];
}

/** How often each member is among the replicas of many keys, as a share of all replicas. */
export function expectedShares(
  members: readonly Placed[],
  replicas: number,
): ReadonlyMap<string, number> {
  const placer = compileLabelled(members);
  const counts = copiesOf(placer, replicas, 4096);
  const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
  return new Map([...counts].map(([name, n]) => [name, total === 0 ? 0 : n / total]));
}

/** How many of the first so many keys each member holds. */
export function copiesOf(placer: Placer, replicas: number, keys: number): Map<string, number> {
  const counts = new Map(placer.names.map((name) => [name, 0]));
  const picks = new Int32Array(Math.max(1, replicas));
  for (let lo = 0; lo < keys && placer.names.length > 0; lo++) {
    const size = placer.pick(0, lo, replicas, picks);
    for (let i = 0; i < size; i++) {
      const name = placer.names[picks[i] as number] as string;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return counts;
}
