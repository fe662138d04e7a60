/**
 * All candidates, as typed arrays in the order the walk reads it. Made once from a topology under a policy (or from a
 * pool), walked often (`walk.ts`). Position 0 stands for the top; the candidates below a vertex are contiguous, the
 * up ones first, then the hollow ones, each sorted by weight, then name.
 */
import { invariant } from './errors.ts';
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
  /** Index of a target; −1 for domains. */
  readonly target: Int32Array;
  /** The longest run of candidates. */
  readonly rangeMax: number;
}

/** A vertex before it gets its position. */
export interface Branch {
  readonly seed: number;
  readonly weight: number;
  readonly target: number;
  readonly up: readonly Branch[];
  readonly hollow: readonly Branch[];
  readonly upRoom: number;
  readonly room: number;
}

/** The candidates of a topology under a policy. */
export function compileTree(topology: Topology, policy: CheckedPolicy): Tree {
  const reader: Reader = {
    policy,
    states: health(topology),
    indexOf: new Map(topology.targets.map((target, i) => [target, i])),
  };
  return layOut(domain(reader, 0, null, topology.children), topology.levels.length);
}

/** Gives every branch its position, breadth first: siblings end up next to each other. */
export function layOut(top: Branch, depthCount: number): Tree {
  invariant(top.room >= top.upRoom, 'a domain holds at least as much as its children that are up');
  const branches: Branch[] = [top];
  const first: number[] = [];
  for (let i = 0; i < branches.length; i++) {
    const { up, hollow } = branches[i] as Branch;
    first.push(branches.length);
    for (const child of up) branches.push(child);
    for (const child of hollow) branches.push(child);
  }
  const numbers = (read: (branch: Branch) => number) => Int32Array.from(branches, read);
  return {
    depthCount,
    seeds: numbers(({ seed }) => seed),
    weights: Float64Array.from(branches, ({ weight }) => weight),
    first: Int32Array.from(first),
    upCount: numbers(({ up }) => up.length),
    hollowCount: numbers(({ hollow }) => hollow.length),
    upRoom: numbers(({ upRoom }) => upRoom),
    room: numbers(({ room }) => room),
    upRoomMin: numbers(({ up }) => up.reduce((min, { room }) => Math.min(min, room), 0x7fff_ffff)),
    target: numbers(({ target }) => target),
    rangeMax: branches.reduce((max, { up, hollow }) => Math.max(max, up.length, hollow.length), 1),
  };
}

/** A leaf of the tree: room for one replica. */
export function leaf(seed: number, weight: number, target: number): Branch {
  return { seed, weight, target, up: [], hollow: [], upRoom: 0, room: 1 };
}

/** The room of the `width` roomiest branches together. */
export function roomOf(branches: readonly Branch[], width: number): number {
  const rooms = branches.map(({ room }) => room).toSorted((a, b) => b - a);
  return rooms.slice(0, width).reduce((total, room) => total + room, 0);
}

interface Reader {
  readonly policy: CheckedPolicy;
  readonly states: ReadonlyMap<Vertex, Health>;
  readonly indexOf: ReadonlyMap<Vertex, number>;
}

function domain(
  reader: Reader,
  depth: number,
  vertex: Vertex | null,
  children: readonly Vertex[],
): Branch {
  const { policy, states } = reader;
  const pin = policy.pin[depth] ?? null;
  const usable = children
    .filter((child) => states.get(child)?.live !== 0 && (pin === null || pin === child.id))
    .toSorted((a, b) => a.weight - b.weight);
  const inState = (state: string) =>
    usable
      .filter((child) => states.get(child)?.state === state)
      .map((child) => below(reader, depth, child))
      .filter(({ room }) => room > 0);
  const up = inState('up');
  const hollow = inState('hollow');
  const width = policy.width[depth] as number;
  return {
    seed: vertex?.seed ?? 0,
    weight: vertex?.weight ?? 1,
    target: -1,
    up,
    hollow,
    upRoom: roomOf(up, width),
    room: roomOf([...up, ...hollow], width),
  };
}

function below(reader: Reader, depth: number, vertex: Vertex): Branch {
  const target = reader.indexOf.get(vertex);
  return target === undefined
    ? domain(reader, depth + 1, vertex, vertex.children)
    : leaf(vertex.seed, vertex.weight, target);
}
