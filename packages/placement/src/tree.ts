/**
 * A topology under a policy as typed arrays: only what can be chosen, in the order the walk reads it. Made
 * once, walked often (`walk.ts`). Position 0 stands for the top; the candidates below a vertex are contiguous,
 * the up ones first, then the hollow ones, each sorted by weight, then name.
 */
import { type Health, health } from './health.ts';
import type { CheckedPolicy } from './policy.ts';
import type { Topology, Vertex } from './topology.ts';

export interface Tree {
  readonly depthCount: number;
  readonly seeds: Int32Array;
  readonly weights: Float64Array;
  /** Position of the first candidate below. */
  readonly first: Int32Array;
  readonly upCount: Int32Array;
  readonly hollowCount: Int32Array;
  /** Replicas that the up candidates below can hold together, the whole vertex can, the smallest up one can. */
  readonly upRoom: Int32Array;
  readonly room: Int32Array;
  readonly upRoomMin: Int32Array;
  /** Index into the topology's targets; −1 for domains. */
  readonly target: Int32Array;
  /** The longest run of candidates. */
  readonly rangeMax: number;
}

/** What a branch looks like before it gets positions. */
interface Branch {
  readonly vertex: Vertex | null;
  readonly up: readonly Branch[];
  readonly hollow: readonly Branch[];
  readonly upRoom: number;
  readonly room: number;
}

export function compileTree(topology: Topology, policy: CheckedPolicy): Tree {
  const states = health(topology);
  const top = branch(null, topology.children, states, policy);
  const branches: Branch[] = [top];
  const first: number[] = [];
  // Breadth first: `branches` grows while it is read, so siblings end up next to each other.
  for (let i = 0; i < branches.length; i++) {
    const { up, hollow } = branches[i] as Branch;
    first.push(branches.length);
    for (const below of up) branches.push(below);
    for (const below of hollow) branches.push(below);
  }
  const indexOf = new Map(topology.targets.map((target, i) => [target, i]));
  const numbers = (read: (branch: Branch) => number) => Int32Array.from(branches, read);
  return {
    depthCount: topology.levels.length,
    seeds: numbers(({ vertex }) => vertex?.seed ?? 0),
    weights: Float64Array.from(branches, ({ vertex }) => vertex?.weight ?? 1),
    first: Int32Array.from(first),
    upCount: numbers(({ up }) => up.length),
    hollowCount: numbers(({ hollow }) => hollow.length),
    upRoom: numbers(({ upRoom }) => upRoom),
    room: numbers(({ room }) => room),
    upRoomMin: numbers(({ up }) => up.reduce((min, { room }) => Math.min(min, room), 0x7fff_ffff)),
    target: numbers(({ vertex }) => (vertex === null ? -1 : (indexOf.get(vertex) ?? -1))),
    rangeMax: branches.reduce((max, { up, hollow }) => Math.max(max, up.length, hollow.length), 1),
  };
}

function branch(
  vertex: Vertex | null,
  children: readonly Vertex[],
  states: ReadonlyMap<Vertex, Health>,
  policy: CheckedPolicy,
): Branch {
  const depth = vertex === null ? 0 : vertex.depth + 1;
  if (depth === policy.width.length) return { vertex, up: [], hollow: [], upRoom: 0, room: 1 };
  const pin = policy.pin[depth] ?? null;
  const usable = children
    .filter((child) => states.get(child)?.live !== 0 && (pin === null || pin === child.id))
    .toSorted((a, b) => a.weight - b.weight)
    .map((child) => branch(child, child.children, states, policy))
    .filter(({ room }) => room > 0);
  const stateOf = (one: Branch) => states.get(one.vertex as Vertex)?.state;
  const up = usable.filter((one) => stateOf(one) === 'up');
  const hollow = usable.filter((one) => stateOf(one) === 'hollow');
  const width = policy.width[depth] as number;
  return { vertex, up, hollow, upRoom: roomOf(up, width), room: roomOf([...up, ...hollow], width) };
}

/** What the `width` roomiest can hold. */
function roomOf(branches: readonly Branch[], width: number): number {
  const rooms = branches.map(({ room }) => room).toSorted((a, b) => b - a);
  return rooms.slice(0, width).reduce((total, room) => total + room, 0);
}
