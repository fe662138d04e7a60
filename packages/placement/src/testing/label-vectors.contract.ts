/** The cases of the published test vectors of `carillon-labels-2`, and how each is answered. Inputs are plain JSON. */
import { logOf } from '../flat/logarithm.ts';
import { liftedWeight, rankOfHash } from '../labels/labelled-targets.ts';
import { compileLabelled, labelsAlgorithm } from '../labels/labels.ts';
import { type Domain, groupMembers, type LabelledMember } from '../labels/members.ts';
import { doubleHex, readVectorKey, vectorKeys } from './vectors.contract.ts';

/** Doubles are written as their 64 bits in hex, keys as in the vectors of `carillon-placement-1`. */
export type LabelCase =
  | { id: string; kind: 'logarithm'; ratio: number }
  | { id: string; kind: 'lifted-weight'; weight: number; quarters: number }
  | { id: string; kind: 'rank'; hash: number; weight: number }
  | { id: string; kind: 'seeds'; members: LabelledMember[] }
  | { id: string; kind: 'place'; members: LabelledMember[]; replicas: number; keys: string[] };

/** A member for each entry: name, zone, weight. */
function zoned(...entries: [name: string, zone: string | null, weight?: number][]) {
  return entries.map(
    ([name, zone, weight]): LabelledMember => ({
      name,
      ...(zone === null ? {} : { labels: { zone } }),
      ...(weight === undefined ? {} : { weight }),
    }),
  );
}

const clusters: Readonly<Record<string, LabelledMember[]>> = {
  'zones-2-2': zoned(['n0', 'a'], ['n1', 'a'], ['n2', 'b'], ['n3', 'b']),
  'zones-1-3-3': zoned(
    ['n0', 'a'],
    ['n1', 'b'],
    ['n2', 'b'],
    ['n3', 'b'],
    ['n4', 'c'],
    ['n5', 'c'],
    ['n6', 'c'],
  ),
  'one-without-a-label': zoned(['n0', 'a'], ['n1', 'b'], ['n2', 'b'], ['tür', null], ['n4', 'a']),
  weights: zoned(
    ['n0', 'a', 2],
    ['n1', 'a', 0.5],
    ['n2', 'b', 1],
    ['n3', 'c', 3],
    ['n4', 'c', 3],
    ['n5', 'd', 0],
    ['n6', 'd', 1.25],
  ),
  'regions-zones-racks': [
    { name: 'n0', labels: { region: 'eu', zone: 'a', rack: 'r1' } },
    { name: 'n1', labels: { region: 'eu', zone: 'a', rack: 'r2' } },
    { name: 'n2', labels: { region: 'eu', zone: 'b', rack: 'r1' } },
    { name: 'n3', labels: { region: 'eu', zone: 'b' } },
    { name: 'n4', labels: { region: 'us', zone: 'a', rack: 'r1' }, weight: 2 },
    { name: 'n5', labels: { region: 'us', zone: 'a', rack: 'r1' } },
    { name: 'n6', labels: { region: 'us', owner: 'x' } },
    { name: 'n7', labels: { zone: 'a' } },
  ],
};

const factors = [1, 2, 3, 4, 9];

export const labelCases: readonly LabelCase[] = [
  ...[1, 1.25, 2, 3, 7.5].map(
    (ratio): LabelCase => ({ id: `logarithm-${ratio}`, kind: 'logarithm', ratio }),
  ),
  ...[0.5, 1, 3].flatMap((weight) =>
    [0, 1, 2, 3, 4].map(
      (quarters): LabelCase => ({
        id: `lifted-weight-${weight}-${quarters}`,
        kind: 'lifted-weight',
        weight,
        quarters,
      }),
    ),
  ),
  ...[0, 1000, 0x7fff_ffff, 0x8000_0000, 0xdead_beef, 0xffff_ffff].flatMap((hash) =>
    [1, 2.5].map(
      (weight): LabelCase => ({ id: `rank-${hash}-${weight}`, kind: 'rank', hash, weight }),
    ),
  ),
  ...Object.entries(clusters).flatMap(([name, members]): LabelCase[] => [
    { id: `seeds-${name}`, kind: 'seeds', members },
    ...factors.map(
      (replicas): LabelCase => ({
        id: `place-${name}-${replicas}`,
        kind: 'place',
        members,
        replicas,
        keys: [...vectorKeys],
      }),
    ),
  ]),
];

export function answerLabels(one: LabelCase): unknown {
  switch (one.kind) {
    case 'logarithm':
      return doubleHex(logOf(one.ratio));
    case 'lifted-weight':
      return doubleHex(liftedWeight(one.weight, one.quarters));
    case 'rank':
      return doubleHex(rankOfHash(one.hash, one.weight));
    case 'seeds':
      return seedsBelow(groupMembers(one.members));
    case 'place':
      return placed(one);
  }
}

interface Seeds {
  readonly domains: Record<string, number>;
  readonly members: Record<string, number>;
}

/** The seed of every domain by its path, and of every member by its name. */
function seedsBelow(top: Domain): Seeds {
  const domains: Record<string, number> = {};
  const visit = (domain: Domain): void => {
    domains[domain.path] = domain.seed;
    domain.domains.forEach(visit);
  };
  visit(top);
  return {
    domains,
    members: Object.fromEntries(top.members.map(({ name, seed }) => [name, seed])),
  };
}

function placed({ members, replicas, keys }: LabelCase & { kind: 'place' }): string[][] {
  const placer = compileLabelled(members, labelsAlgorithm);
  return keys.map((key) => {
    const out = new Int32Array(replicas);
    const read = readVectorKey(key);
    const size =
      typeof read === 'string'
        ? placer.pickText(read, replicas, out)
        : placer.pick(read.hi, read.lo, replicas, out);
    return Array.from(out.subarray(0, size), (i) => placer.names[i] as string);
  });
}
