/** How many replicas a key gets and how they must spread: the part of a placement that is not the topology. */
import { PlacementError } from './errors.ts';
import { perLevel, record, refuseUnknownFields, wholeNumber } from './input.ts';
import type { Account } from './accounts.ts';
import { checkTopology } from './built.ts';
import { checkName, checkRoles, type Roles } from './flat/rendezvous.ts';
import type { Topology, Vertex } from './topology.ts';

export interface Policy {
  /** Default 1. More than there are live targets gives all of them. */
  readonly replicas?: number;
  /** Per level: over how many children of one parent the replicas may spread at most, e.g. `{ zone: 1 }`. */
  readonly width?: Readonly<Record<string, number>>;
  /** Per level: the only vertex that may be used, e.g. `{ region: 'eu' }`. */
  readonly pin?: Readonly<Record<string, string>>;
  /** The account that asks; needed while expansions of the topology are under way. */
  readonly account?: Account;
  /** `rank` (default): from the highest score down. `chronos`: the lowest first, then from the highest down. */
  readonly roles?: Roles;
}

const policyFields = [
  'replicas',
  'width',
  'pin',
  'account',
  'roles',
] as const satisfies (keyof Policy)[];

/** A policy checked against a topology, with an entry per level. */
export interface CheckedPolicy {
  readonly replicas: number;
  readonly width: readonly number[];
  readonly pin: readonly (string | null)[];
  readonly roles: Roles;
}

export const replicasMax = 256;

export function checkPolicy(topology: Topology, policy: Policy): CheckedPolicy {
  checkTopology(topology);
  const { levels } = topology;
  refuseUnknownFields(record(policy, 'The policy'), policyFields, { what: 'A policy' });
  const pin = perLevel(levels, policy.pin, 'pin').map((id) => {
    if (id !== undefined) checkName(id);
    return id ?? null;
  });
  checkPins(topology, pin);
  checkRoles(policy.roles);
  return {
    replicas: wholeNumber(policy.replicas ?? 1, '"replicas"', { min: 1, max: replicasMax }),
    width: perLevel(levels, policy.width, 'width').map((width, i) =>
      width === undefined
        ? Number.POSITIVE_INFINITY
        : wholeNumber(width, `The width of "${levels[i]}"`, { min: 1, max: 65_535 }),
    ),
    pin,
    roles: policy.roles ?? 'rank',
  };
}

/** A pin that no vertex carries would silently place nothing. */
function checkPins(topology: Topology, pin: readonly (string | null)[]): void {
  for (const [depth, id] of pin.entries()) {
    if (id === null || hasId(topology.children, depth, id)) continue;
    throw new PlacementError(
      'unknown_vertex',
      `"pin" asks for the ${topology.levels[depth]} "${id}", which the topology does not have.`,
      id,
    );
  }
}

function hasId(vertices: readonly Vertex[], depth: number, id: string): boolean {
  return vertices.some((vertex) =>
    vertex.depth === depth ? vertex.id === id : hasId(vertex.children, depth, id),
  );
}
