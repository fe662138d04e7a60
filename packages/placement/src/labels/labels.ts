/**
 * Members with labels as a placer: replicas spread over distinct regions, zones and racks. Members without labels are
 * placed as flat targets are, so a cluster that uses none has the plain roles of the timer cluster.
 *
 * Labelled members have had two rules, each with an id of its own; a view names the one it goes by:
 * `carillon-placement-1` gave every domain of a level the same share, so that a lone member in a zone held two thirds
 * of all timers; `carillon-labels-2` gives a domain the weight of its members together (`labelled-targets.ts`).
 */
import { PlacementError } from '../errors.ts';
import { compareNames } from '../flat/hash.ts';
import { algorithm, compileTargets, type Picks, type Placer } from '../flat/rendezvous.ts';
import { show } from '../input.ts';
import { CompiledTopology } from '../place.ts';
import { buildTopology, type VertexSpec } from '../topology.ts';
import { LabelledTargets } from './labelled-targets.ts';
import {
  checkMembers,
  type Domain,
  groupMembers,
  type LabelledMember,
  levelsOf,
} from './members.ts';

/** The id of the present rule for members with labels. */
export const labelsAlgorithm = 'carillon-labels-2';

/** The id of the rule that places keys on these members; part of every view. */
export function placementId(members: readonly LabelledMember[]): string {
  return levelsOf(members).length === 0 ? algorithm : labelsAlgorithm;
}

/** Members as targets under the domains their labels name, with the roles of the timer cluster. */
export function compileLabelled(members: readonly LabelledMember[], id?: string): Placer {
  checkMembers(members);
  if (id !== undefined && id !== algorithm && id !== labelsAlgorithm) {
    throw new PlacementError(
      'bad_input',
      `The id of the rule must be "${algorithm}" or "${labelsAlgorithm}", not ${show(id)}.`,
    );
  }
  if (levelsOf(members).length === 0) {
    return compileTargets(members.map(({ name, weight = 1 }) => ({ name, weight })));
  }
  return id === algorithm ? new EvenDomains(members) : new LabelledTargets(groupMembers(members));
}

/** The rule of `carillon-placement-1`: a walk down a tree in which every domain of a level weighs the same. */
class EvenDomains implements Placer {
  readonly names: readonly string[];
  readonly #compiled: CompiledTopology;
  /** Index into `names` of each target of the topology. */
  readonly #nameOf: Int32Array;

  constructor(members: readonly LabelledMember[]) {
    const top = groupMembers(members);
    this.names = top.members.map(({ name }) => name).toSorted(compareNames);
    const levels = [...levelsOf(members), 'member'];
    const topology = buildTopology({ levels, children: vertices(top) });
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

function vertices({ domains, members }: Domain): VertexSpec[] {
  if (domains.length === 0) return members.map(({ name, weight }) => ({ id: name, weight }));
  return domains.map((domain) => ({ id: domain.id, children: vertices(domain) }));
}
