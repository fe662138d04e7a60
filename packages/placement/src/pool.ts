/**
 * A pool: the targets chosen for a whole collection, from which each of its keys is placed. The key of the
 * choice is the 64-bit number made of two hashes (seeds 0 and 1) of the collection's name; per level the
 * shape says how many children each chosen vertex contributes.
 *
 * P1. Coordinates are fixed: slot (zone, machine, disk) belongs to the vertices that rank first by weight and
 *     score alone, whether they are up or not. Those owners give the slots their seeds, so a key keeps its slot
 *     through every failure and repair.
 * P2. A slot whose owner is not up is served by a substitute: the next up vertex in its own line of succession
 *     (the ranks i + w, i + 2w … behind slot i of w), so that losing one slot moves no other. When a line is
 *     used up, by the next-ranked up vertex that serves nobody; else by the owner itself if it is hollow.
 * P3. The loss of a disk is made good inside its machine, of a hollow machine inside its zone, of a hollow zone
 *     by another zone: one level at a time, never further than needed.
 */
import { mapVertices } from './change.ts';
import { hashText } from './hash.ts';
import { health } from './health.ts';
import { type Key, readKey } from './key.ts';
import type { Placement } from './place.ts';
import { checkPolicy, type CheckedPolicy, replicasMax } from './policy.ts';
import { Ranker } from './ranker.ts';
import { readSlot } from './slots.ts';
import type { Topology, Vertex } from './topology.ts';
import { type Branch, compileTree, layOut, leaf, roomOf, type Tree } from './tree.ts';
import { Walk } from './walk.ts';
import { wholeNumber } from './input.ts';

export interface PoolShape {
  /** Per level: how many children each chosen vertex contributes. Levels not named contribute all they have. */
  readonly width: Readonly<Record<string, number>>;
  /** As in a policy: the only vertex of a level that may be used. */
  readonly pin?: Readonly<Record<string, string>>;
}

/** A place in the pool at any level: who owns it, who serves it. Positions of the selector's tree, −1 for nobody. */
export interface PoolVertex {
  readonly owner: number;
  readonly serving: number;
  readonly children: readonly PoolVertex[];
}

export interface PoolSlot {
  /** Index per level from the top of the pool down. */
  readonly coordinates: readonly number[];
  /** The target that ranks here. */
  readonly owner: string;
  /** The target that serves: the owner, a substitute, or null when nothing is left. */
  readonly path: string | null;
}

/** Selects pools from one topology with one shape. Immutable; a changed topology needs a new one. */
export class PoolSelector {
  readonly topology: Topology;
  readonly #policy: CheckedPolicy;
  /** Every vertex with a weight, as if all were up. */
  readonly #tree: Tree;
  readonly #ranker: Ranker;
  /** Per position: 2 up, 1 not up but with live targets, 0 dead. */
  readonly #use: Uint8Array;

  constructor(topology: Topology, shape: PoolShape) {
    this.topology = topology;
    this.#policy = checkPolicy(topology, shape);
    const unlimited = checkPolicy(topology, shape.pin === undefined ? {} : { pin: shape.pin });
    const allUp = mapVertices(topology, () => ({ up: true }));
    this.#tree = compileTree({ ...allUp, quorum: topology.quorum }, unlimited);
    this.#ranker = new Ranker({ ...this.#tree, hash: topology.hash });
    this.#use = readUse(topology, this.#tree);
  }

  /** The pool of a collection, by its name. */
  select(collection: string): Pool {
    const name = readKey(collection) as string;
    // As a number, so that a long name is hashed twice and not once per candidate.
    this.#ranker.readNumber(hashText(name, 0), hashText(name, 1));
    return new Pool(this.topology, this.#tree, collection, this.#slots(0, 0, 0));
  }

  /** The slots below a vertex (`owner`) that is served by itself or by another one. */
  #slots(owner: number, serving: number, depth: number): PoolVertex[] {
    const slots: PoolVertex[] = [];
    if (depth === this.#tree.depthCount) return slots;
    const owners = this.#ranked(owner, depth);
    const servers = serving === owner ? owners : this.#ranked(serving, depth);
    const width = this.#width(owner, depth);
    const serves = this.#serve(servers, this.#width(serving, depth));
    for (let i = 0; i < width; i++) {
      const own = owners[i] as number;
      const by = serves[i] ?? -1;
      slots.push({ owner: own, serving: by, children: this.#slots(own, by, depth + 1) });
    }
    return slots;
  }

  /** How many children a vertex contributes. */
  #width(vertex: number, depth: number): number {
    if (vertex < 0) return 0;
    const width = this.#policy.width[depth] as number;
    const count = this.#tree.upCount[vertex] as number;
    return width < count ? width : count;
  }

  /** The children of a vertex, best first: only as many as it contributes, unless one of those is not up. */
  #ranked(vertex: number, depth: number): number[] {
    const ranks: number[] = [];
    const width = this.#width(vertex, depth);
    if (width === 0) return ranks;
    const start = this.#tree.first[vertex] as number;
    const count = this.#tree.upCount[vertex] as number;
    if (width === count) {
      for (let i = 0; i < count; i++) ranks.push(start + i);
      return ranks;
    }
    this.#ranker.highest(start, count, width);
    if (!this.#areUp(this.#ranker.order, width)) this.#ranker.highest(start, count, count);
    const size = this.#areUp(this.#ranker.order, width) ? width : count;
    for (let i = 0; i < size; i++) ranks.push(this.#ranker.order[i] as number);
    return ranks;
  }

  #areUp(positions: ArrayLike<number>, size: number): boolean {
    for (let i = 0; i < size; i++) if (this.#use[positions[i] as number] !== 2) return false;
    return true;
  }

  /** Who serves each of the first `width` ranks (P2); −1 for nobody. */
  #serve(ranks: readonly number[], width: number): readonly number[] {
    if (this.#areUp(ranks, width)) return ranks;
    const taken = new Set<number>();
    const servers = ranks.slice(0, width).map((_, i) => {
      for (let rank = i; rank < ranks.length; rank += width) {
        const position = ranks[rank] as number;
        if (this.#use[position] !== 2) continue;
        taken.add(position);
        return position;
      }
      return -1;
    });
    return servers.map((server, i) => {
      if (server >= 0) return server;
      const spare = ranks.find((one) => this.#use[one] === 2 && !taken.has(one));
      const owner = ranks[i] as number;
      const by = spare ?? (this.#use[owner] === 1 ? owner : -1);
      taken.add(by);
      return by;
    });
  }
}

/** The slots of one collection, and where its keys live in them. */
export class Pool {
  readonly collection: string;
  /** The slots as a tree: zones, their machines, their disks. */
  readonly vertices: readonly PoolVertex[];
  readonly topology: Topology;
  readonly #tree: Tree;
  #walk: Walk | null = null;

  constructor(topology: Topology, tree: Tree, collection: string, vertices: readonly PoolVertex[]) {
    this.topology = topology;
    this.collection = collection;
    this.vertices = vertices;
    this.#tree = tree;
  }

  /** Every slot with its coordinates, owner and server. */
  slots(): PoolSlot[] {
    const slots: PoolSlot[] = [];
    const visit = (vertices: readonly PoolVertex[], coordinates: readonly number[]): void => {
      for (const [i, vertex] of vertices.entries()) {
        const here = [...coordinates, i];
        if (here.length < this.topology.levels.length) visit(vertex.children, here);
        else {
          const path = vertex.serving < 0 ? null : this.target(vertex.serving).path;
          slots.push({ coordinates: here, owner: this.target(vertex.owner).path, path });
        }
      }
    };
    visit(this.vertices, []);
    return slots;
  }

  /** The target at a position of the selector's tree. */
  target(position: number): Vertex {
    return this.topology.targets[this.#tree.target[position] as number] as Vertex;
  }

  /** The seed of the owner at a position of the selector's tree. */
  seed(position: number): number {
    return (this.#tree.seeds[position] as number) >>> 0;
  }

  /** The replicas of a key of this collection: the walk down the pool's own tree. */
  place(key: Key, replicas: number): Placement {
    wholeNumber(replicas, 'The number of replicas', { min: 1, max: replicasMax });
    const read = readKey(key);
    const walk = this.compile();
    const size =
      typeof read === 'string'
        ? walk.text(read, replicas)
        : walk.number(read.hi, read.lo, replicas);
    const found = Array.from({ length: size }, (_, i) => {
      const target = this.topology.targets[walk.replica(i)] as Vertex;
      return { path: target.path, slot: readSlot(this.topology, target, read) };
    });
    return { replicas: found, wanted: replicas, complete: size === replicas };
  }

  /** The walk over this pool; made once. Its answers are indexes into the topology's targets. */
  compile(): Walk {
    if (this.#walk === null) {
      const depth = this.topology.levels.length;
      const top = this.#branch(this.vertices, 0, 0);
      const policy = checkPolicy(this.topology, {});
      this.#walk = new Walk(layOut(top, depth), policy, this.topology.hash);
    }
    return this.#walk;
  }

  /** The slots as candidates: owners' seeds, equal weights, the targets that serve. */
  #branch(vertices: readonly PoolVertex[], seed: number, depth: number): Branch {
    const last = depth === this.topology.levels.length - 1;
    const up = vertices
      .map((vertex) => {
        const own = this.seed(vertex.owner);
        if (!last) return this.#branch(vertex.children, own, depth + 1);
        const target = vertex.serving < 0 ? -1 : (this.#tree.target[vertex.serving] as number);
        return leaf(own, 1, target);
      })
      .filter(({ room, target }) => (last ? target >= 0 : room > 0));
    const room = roomOf(up, Number.POSITIVE_INFINITY);
    return { seed, weight: 1, target: -1, up, hollow: [], upRoom: room, room };
  }
}

/** Prepares the selection of pools. Throws PlacementError for unknown levels or pins. */
export function compilePools(topology: Topology, shape: PoolShape): PoolSelector {
  return new PoolSelector(topology, shape);
}

/** The pool of one collection. For more than a few, compile once instead. */
export function selectPool(topology: Topology, collection: string, shape: PoolShape): Pool {
  return new PoolSelector(topology, shape).select(collection);
}

/** The state of every position of a tree that was made as if all were up. */
function readUse(topology: Topology, tree: Tree): Uint8Array {
  const states = health(topology);
  const use = new Uint8Array(tree.seeds.length);
  const visit = (position: number, children: readonly Vertex[]): void => {
    const bySeed = new Map(children.map((child) => [child.seed, child]));
    const start = tree.first[position] as number;
    for (let i = start; i < start + (tree.upCount[position] as number); i++) {
      const vertex = bySeed.get((tree.seeds[i] as number) >>> 0) as Vertex;
      const state = states.get(vertex)?.state;
      if (state === 'up') use[i] = 2;
      else if (state === 'hollow') use[i] = 1;
      visit(i, vertex.children);
    }
  };
  visit(0, topology.children);
  return use;
}
