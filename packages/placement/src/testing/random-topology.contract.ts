/** Random topologies and policies for property tests: any depth, weights, health, quorum. Not part of the package. */
import * as fc from 'fast-check';
import type { Policy } from '../policy.ts';
import { buildTopology, type Topology, type TopologySpec, type VertexSpec } from '../topology.ts';

const levelNames = ['region', 'zone', 'rack', 'disk'];

export interface Chances {
  /** Weights a vertex may have. */
  readonly weights: readonly number[];
  /** Of ten targets, how many are down on average. */
  readonly down: number;
}

const rough: Chances = { weights: [1, 1, 1, 1, 2, 0.5, 0], down: 2 };

/** A plain topology of one to four levels with up to five children each. */
export function topologySpec(chances: Chances = rough): fc.Arbitrary<TopologySpec> {
  return fc.integer({ min: 1, max: levelNames.length }).chain((depth) =>
    fc.record({
      levels: fc.constant(levelNames.slice(-depth)),
      quorum: quorums(levelNames.slice(-depth)),
      weights: fc.constantFrom('set' as const, 'sum' as const),
      children: children(depth, chances),
    }),
  );
}

export const anyTopology: fc.Arbitrary<Topology> = topologySpec().map((spec) =>
  buildTopology(spec),
);

/** A topology with a policy that names its levels and vertices. */
export const anyCase: fc.Arbitrary<{ topology: Topology; policy: Policy }> = anyTopology.chain(
  (topology) => fc.record({ topology: fc.constant(topology), policy: policyFor(topology) }),
);

function policyFor(topology: Topology): fc.Arbitrary<Policy> {
  const width = fc.integer({ min: 1, max: 4 });
  const widths = Object.fromEntries(topology.levels.map((level) => [level, width]));
  const target = fc.constantFrom(...topology.targets);
  const pin = fc
    .tuple(target, fc.nat({ max: topology.levels.length - 1 }))
    .map(([{ path }, depth]) => {
      return { [topology.levels[depth] as string]: path.split('/')[depth] as string };
    });
  return fc.record(
    {
      replicas: fc.integer({ min: 1, max: 10 }),
      width: fc.record(widths, { requiredKeys: [] }) as fc.Arbitrary<Record<string, number>>,
      pin,
      roles: fc.constantFrom('rank' as const, 'chronos' as const),
    },
    { requiredKeys: ['replicas'] },
  );
}

function quorums(levels: readonly string[]): fc.Arbitrary<Record<string, number>> {
  const quorum = fc.integer({ min: 0, max: 3 });
  return fc.record(Object.fromEntries(levels.map((level) => [level, quorum])), {
    requiredKeys: [],
  }) as fc.Arbitrary<Record<string, number>>;
}

function children(depth: number, chances: Chances): fc.Arbitrary<VertexSpec[]> {
  return fc.uniqueArray(vertex(depth, chances), {
    minLength: 1,
    maxLength: 5,
    selector: ({ id }) => id,
  });
}

function vertex(depth: number, chances: Chances): fc.Arbitrary<VertexSpec> {
  const id = fc.integer({ min: 0, max: 999 }).map((number) => `v${number}`);
  const weight = fc.constantFrom(...chances.weights);
  if (depth > 1) return fc.record({ id, weight, children: children(depth - 1, chances) });
  const up = fc.integer({ min: 0, max: 9 }).map((die) => die >= chances.down);
  return fc.record({ id, weight, up });
}
