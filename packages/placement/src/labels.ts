/**
 * Members with labels as a placer: replicas spread over distinct regions, zones and racks. Members without
 * labels are placed as flat targets are, so a cluster that uses none has the plain roles of the timer cluster.
 */
import { PlacementError } from './errors.ts';
import { compareNames } from './flat/hash.ts';
import { CompiledTopology } from './place.ts';
import { compileTargets, type Picks, type Placer } from './flat/rendezvous.ts';
import { buildTopology, type VertexSpec } from './topology.ts';

export interface LabelledMember {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Default 1; 0: placed nowhere. */
  readonly weight?: number;
}

/** The labels that mean a domain, from wide to narrow. */
export const labelLevels = ['region', 'zone', 'rack'];
/** Where members without a label stand when others have it. */
const unlabelled = '(none)';

/** Members as targets under the domains their labels name, with the roles of the timer cluster. */
export function compileLabelled(
  members: readonly LabelledMember[],
  levels: readonly string[] = labelLevels,
): Placer {
  const used = levels.filter((level) =>
    members.some(({ labels }) => labels?.[level] !== undefined),
  );
  if (used.length === 0)
    return compileTargets(members.map(({ name, weight = 1 }) => ({ name, weight })));
  return new LabelledTargets(members, used);
}

class LabelledTargets implements Placer {
  readonly names: readonly string[];
  readonly #compiled: CompiledTopology;
  /** Index into `names` of each target of the topology. */
  readonly #nameOf: Int32Array;

  constructor(members: readonly LabelledMember[], levels: readonly string[]) {
    this.names = members
      .filter(({ weight }) => weight !== 0)
      .map(({ name }) => name)
      .toSorted(compareNames);
    checkUnique(members);
    const topology = buildTopology({
      levels: [...levels, 'member'],
      children: domains(members, levels),
    });
    this.#compiled = new CompiledTopology(topology, { roles: 'chronos' });
    const indexes = new Map(this.names.map((name, i) => [name, i]));
    this.#nameOf = Int32Array.from(topology.targets, ({ id }) => indexes.get(id) ?? -1);
  }

  pick(hi: number, lo: number, count: number, out: Picks): number {
    return this.#toNames(this.#compiled.pick(hi, lo, count, out), out);
  }

  pickText(key: string, count: number, out: Picks): number {
    return this.#toNames(this.#compiled.pickText(key, count, out), out);
  }

  #toNames(size: number, out: Picks): number {
    for (let i = 0; i < size; i++) out[i] = this.#nameOf[out[i] as number] as number;
    return size;
  }
}

/** The members grouped by the first label, those groups by the next, and so on. */
function domains(members: readonly LabelledMember[], levels: readonly string[]): VertexSpec[] {
  const [level, ...narrower] = levels;
  if (level === undefined) {
    return members.map(({ name, weight = 1 }) => ({ id: name, weight }));
  }
  const groups = new Map<string, LabelledMember[]>();
  for (const member of members) {
    const id = member.labels?.[level] ?? unlabelled;
    groups.set(id, [...(groups.get(id) ?? []), member]);
  }
  return [...groups].map(([id, inside]) => ({
    id,
    weight: inside.some(({ weight }) => weight !== 0) ? 1 : 0,
    children: domains(inside, narrower),
  }));
}

function checkUnique(members: readonly LabelledMember[]): void {
  const seen = new Set<string>();
  for (const { name } of members) {
    if (seen.has(name)) {
      throw new PlacementError('duplicate_id', `The member "${name}" is listed twice.`, name);
    }
    seen.add(name);
  }
}
