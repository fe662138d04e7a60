/**
 * The plain form of a topology and the fingerprint of all fields that decide placement. Two members with equal
 * fingerprints place every key alike; the algorithm id is part of it.
 */
import { checkTopology } from './built.ts';
import { hashText } from './flat/hash.ts';
import { algorithm, compileTargets, type TargetSpec } from './flat/rendezvous.ts';
import type { Topology, TopologySpec, Vertex, VertexSpec } from './topology.ts';

/** The plain form that `buildTopology` reads back: children in name order, defaults left out. */
export function toSpec(topology: Topology): TopologySpec {
  checkTopology(topology);
  const { levels, weights, slots, expansions } = topology;
  const quorum = Object.fromEntries(
    levels.flatMap((level, i) => {
      const count = topology.quorum[i] as number;
      return Number.isFinite(count) ? [[level, count]] : [];
    }),
  );
  return {
    algorithm,
    levels,
    ...(Object.keys(quorum).length > 0 ? { quorum } : {}),
    ...(weights === 'sum' ? { weights } : {}),
    ...(slots.length > 0 ? { slots } : {}),
    ...(expansions.length > 0 ? { expansions } : {}),
    children: topology.children.map(vertexSpec),
  };
}

function vertexSpec(vertex: Vertex): VertexSpec {
  return {
    id: vertex.id,
    ...(vertex.ownWeight === 1 ? {} : { weight: vertex.ownWeight }),
    ...(vertex.up ? {} : { up: false }),
    ...(vertex.expansion === null ? {} : { expansion: vertex.expansion }),
    ...(vertex.children.length > 0 ? { children: vertex.children.map(vertexSpec) } : {}),
  };
}

/** 32 hex digits of a topology's content. The order of children does not matter. */
export function fingerprint(topology: Topology): string {
  return digest(JSON.stringify(toSpec(topology)));
}

/** 32 hex digits of a set of flat targets. Their order does not matter. */
export function fingerprintTargets(targets: readonly (string | TargetSpec)[]): string {
  const checked = compileTargets(targets);
  const weights = new Map(
    targets.map((target) =>
      typeof target === 'string' ? [target, 1] : [target.name, target.weight ?? 1],
    ),
  );
  const sorted = compileTargets([...checked.names, ...checked.planned]).names;
  return digest(JSON.stringify([algorithm, sorted.map((name) => [name, weights.get(name)])]));
}

/** Not for secrets: it tells texts apart, but does not resist forgery. */
function digest(text: string): string {
  return [0, 1, 2, 3].map((seed) => hashText(text, seed).toString(16).padStart(8, '0')).join('');
}
