/** Members with labels, grouped by the domains that their labels name. */
import { PlacementError } from '../errors.ts';
import { compareNames, hashText } from '../flat/hash.ts';
import { checkName, checkWeight, seedsOf } from '../flat/rendezvous.ts';
import { list, record, show } from '../input.ts';

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

/** A member as placement ranks it. */
export interface Ranked {
  readonly name: string;
  readonly weight: number;
  readonly seed: number;
}

/** Members that fail together: a region, a zone, a rack; the whole cluster at the top. */
export interface Domain {
  /** region, zone or rack; empty at the top. */
  readonly level: string;
  readonly id: string;
  /** The ids from the top, joined by "/"; empty at the top. */
  readonly path: string;
  readonly seed: number;
  /** Narrower domains in name order; empty where members are right below. */
  readonly domains: readonly Domain[];
  /** All members at or below, in name order. */
  readonly members: readonly Ranked[];
  /** The weight of all members together. */
  readonly weight: number;
}

/** The levels that at least one member has a label for, from wide to narrow. */
export function levelsOf(members: readonly LabelledMember[]): string[] {
  return labelLevels.filter((level) => members.some(({ labels }) => labels?.[level] !== undefined));
}

/**
 * The members with a weight under the domains that their labels name. Throws PlacementError on bad names and weights.
 */
export function groupMembers(members: readonly LabelledMember[]): Domain {
  checkMembers(members);
  const sorted = members.toSorted((a, b) => compareNames(a.name, b.name));
  refuseTwins(sorted);
  const seeds = seedsOf(sorted);
  const seedOf = new Map(sorted.map(({ name }, i) => [name, seeds[i] as number]));
  const used = sorted.filter(({ weight }) => weight !== 0);
  const top = { level: '', id: '', path: '', seed: hashText('domain', 0) };
  return group(top, used, { levels: levelsOf(members), seedOf });
}

type Name = Pick<Domain, 'level' | 'id' | 'path' | 'seed'>;

interface Grouping {
  readonly levels: readonly string[];
  readonly seedOf: ReadonlyMap<string, number>;
}

function group(own: Name, inside: readonly LabelledMember[], grouping: Grouping): Domain {
  const members = inside.map(({ name, weight = 1 }) => ({
    name,
    weight,
    seed: grouping.seedOf.get(name) as number,
  }));
  const weight = members.reduce((total, member) => total + member.weight, 0);
  const [level, ...narrower] = grouping.levels;
  if (level === undefined) return { ...own, domains: [], members, weight };
  const groups = new Map<string, LabelledMember[]>();
  for (const member of inside) {
    const id = member.labels?.[level] ?? unlabelled;
    groups.set(id, [...(groups.get(id) ?? []), member]);
  }
  const ids = [...groups.keys()].toSorted(compareNames);
  const seeds = seedsOf(
    ids.map((name) => ({ name })),
    (id) => hashText(id, own.seed),
  );
  const domains = ids.map((id, i) => {
    const path = own.path === '' ? id : `${own.path}/${id}`;
    const name = { level, id, path, seed: seeds[i] as number };
    return group(name, groups.get(id) ?? [], { ...grouping, levels: narrower });
  });
  return { ...own, domains, members, weight };
}

/** Throws PlacementError unless each member has a name, and labels and a weight that fit. */
export function checkMembers(members: readonly LabelledMember[]): void {
  for (const member of list(members, 'The members')) {
    const { name, weight = 1, labels } = record(member, 'A member');
    checkName(name);
    checkWeight(weight, name);
    const given = record(labels ?? {}, `"labels" of "${name}"`);
    const level = labelLevels.find((one) => !['string', 'undefined'].includes(typeof given[one]));
    if (level === undefined) continue;
    const says = `The label "${level}" of "${name}" must be a text, not ${show(given[level])}.`;
    throw new PlacementError('bad_input', says, name);
  }
}

function refuseTwins(sorted: readonly LabelledMember[]): void {
  const twin = sorted.find(({ name }, i) => sorted[i - 1]?.name === name);
  if (twin === undefined) return;
  const { name } = twin;
  throw new PlacementError('duplicate_id', `The member "${name}" is listed twice.`, name);
}
