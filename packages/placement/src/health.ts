/**
 * Which parts of a topology can be used: a pure function of weights and up/down, so repair restores exactly
 * the old state. Recovery is local: a loss within quorum stays inside the parent, beyond it the parent turns
 * hollow and its content moves to its siblings, one level up and no further.
 *
 *   target   up or dead
 *   domain   dead     no live target below
 *            hollow   more than quorum of its children failed (dead or hollow), or none is up
 *            up       otherwise
 *   planned  weight 0, or below such a vertex: no candidate, not failed, counts nowhere
 */
import { checkTopology } from './built.ts';
import type { Topology, Vertex } from './topology.ts';

export type VertexState = 'up' | 'hollow' | 'dead' | 'planned';

export interface Health {
  readonly state: VertexState;
  /** Live targets at or below this vertex. */
  readonly live: number;
  /** Children that count and are not up. */
  readonly failed: number;
}

/** The health of every vertex. */
export function health(topology: Topology): ReadonlyMap<Vertex, Health> {
  checkTopology(topology);
  const states = new Map<Vertex, Health>();
  for (const vertex of topology.children) visit(topology, states, vertex, true);
  return states;
}

function visit(
  topology: Topology,
  states: Map<Vertex, Health>,
  vertex: Vertex,
  parentUp: boolean,
): Health {
  const up = parentUp && vertex.up;
  const below = vertex.children.map((child) => visit(topology, states, child, up));
  const own = judge(topology, vertex, below, up);
  states.set(vertex, own);
  return own;
}

function judge(topology: Topology, vertex: Vertex, below: readonly Health[], up: boolean): Health {
  if (vertex.weight === 0) return { state: 'planned', live: 0, failed: 0 };
  if (vertex.depth === topology.levels.length - 1) {
    return { state: up ? 'up' : 'dead', live: up ? 1 : 0, failed: 0 };
  }
  const counted = below.filter((child) => child.state !== 'planned');
  const live = counted.reduce((total, child) => total + child.live, 0);
  const failed = counted.filter((child) => child.state !== 'up').length;
  const quorum = topology.quorum[vertex.depth + 1] as number;
  if (live === 0) return { state: 'dead', live, failed };
  return { state: failed > quorum || failed === counted.length ? 'hollow' : 'up', live, failed };
}
