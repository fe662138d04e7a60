/**
 * A pool: the targets chosen for a whole collection, from which each of its keys is placed. The key of the choice is
 * the 64-bit number made of two hashes (seeds 0 and 1) of the collection's name; per level the shape says how many
 * children each chosen vertex contributes.
 *
 * P1. Coordinates are fixed: slot (zone, machine, disk) belongs to the vertices that rank first by weight and score
 *     alone, whether they are up or not. These owners give the slots their seeds, so a key keeps its slot through
 *     every failure and repair.
 * P2. A slot whose owner is not up is served by a substitute: the next up vertex in its own line of succession (the
 *     ranks i + w, i + 2w … behind slot i of w), so that losing one slot moves no other. When a line is used up, by
 *     the next-ranked up vertex that serves no slot; else by the owner itself if it is hollow.
 * P3. The loss of a disk is made good inside its machine, of a hollow machine inside its zone, of a hollow zone by
 *     another zone: one level at a time, never further than needed.
 */
import { type Account, topologyAsked } from '../accounts.ts';
import { mapVertices } from '../change.ts';
import { type Diff, type DiffInput, diff } from '../diff.ts';
import { invariant, PlacementError } from '../errors.ts';
import { hashText } from '../flat/hash.ts';
import { health } from '../health.ts';
import { record, refuseUnknownFields, show, wholeNumber } from '../input.ts';
import { type Key, readKey } from '../flat/key.ts';
import type { Placement } from '../place.ts';
import { type PoolSize, refuseReshaping, widthOf } from './pool-width.ts';
import { type CheckedPolicy, checkPolicy, replicasMax } from '../policy.ts';
import { Ranker } from '../flat/ranker.ts';
import type { Picks, Placer } from '../flat/rendezvous.ts';
import { readSlot } from '../slots.ts';
import type { Topology, Vertex } from '../topology.ts';
import { type Branch, compileTree, layOut, leaf, roomOf, type Tree } from '../tree.ts';
import { Walk } from '../walk.ts';

export interface PoolShape extends Partial<PoolSize> {
  /** Per level: how many children each chosen vertex contributes. Levels not named contribute all they have. */
  readonly width?: Readonly<Record<string, number>>;
  /** As in a policy: the only vertex of a level that may be used. */
  readonly pin?: Readonly<Record<string, string>>;
  /** As in a policy: the account that the collections belong to. */
  readonly account?: Account;
}

const shapeFields = [
  'width',
  'partitions',
  'replicas',
  'zones',
  'pin',
  'account',
] as const satisfies (keyof PoolShape)[];

/** A place in the pool at any level. Owner and server are positions of the selector's tree, −1 for none. */
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
  /** As the account of the shape sees it. */
  readonly topology: Topology;
  readonly #width: readonly number[];
  /** Paths of all targets: made once, because pools of one selector are many. */
  readonly #names: readonly string[];
  /** Every vertex with a weight, as if all were up. */
  readonly #tree: Tree;
  readonly #ranker: Ranker;
  /** Per position: 2 up, 1 not up but with live targets, 0 dead. */
  readonly #use: Uint8Array;
  /** The pool being selected: owner, server and number of children of each place, breadth first. */
  readonly #places: Int32Array;
  #size = 0;

  constructor(asked: Topology, shape: PoolShape) {
    refuseUnknownFields(record(shape, 'The shape of a pool'), shapeFields, {
      what: 'The shape of a pool',
    });
    const topology = topologyAsked(asked, shape.account);
    this.topology = topology;
    const policy = policyOf(asked, shape);
    const unlimited = { ...policy, width: policy.width.map(() => Number.POSITIVE_INFINITY) };
    this.#width = policy.width;
    this.#names = topology.targets.map(({ path }) => path);
    this.#tree = compileTree(
      mapVertices(topology, () => ({ up: true })),
      unlimited,
    );
    this.#ranker = new Ranker({ ...this.#tree, hash: topology.hash });
    this.#use = readUse(topology, this.#tree);
    this.#places = new Int32Array(this.#tree.seeds.length * placeSize);
  }

  /** The pool of a collection, by its name. */
  select(collection: string): Pool {
    const name = readKey(collection) as string;
    // As a number, so that a long name is hashed twice and not once per candidate.
    this.#ranker.readNumber(hashText(name, 0), hashText(name, 1));
    this.#size = 0;
    this.#add(0, 0);
    let at = 0;
    for (let depth = 0; depth < this.#tree.depthCount; depth++) {
      for (const end = this.#size; at < end; at++) this.#fill(at, depth);
    }
    const places = this.#places.slice(0, this.#size * placeSize);
    const { topology } = this;
    const names = this.#names;
    return new Pool({ topology, names, tree: this.#tree, width: this.#width, collection, places });
  }

  #add(owner: number, serving: number): void {
    const at = this.#size++ * placeSize;
    this.#places[at] = owner;
    this.#places[at + 1] = serving;
    this.#places[at + 2] = 0;
  }

  /** Adds the places below one. */
  #fill(place: number, depth: number): void {
    const owner = this.#places[place * placeSize] as number;
    const serving = this.#places[place * placeSize + 1] as number;
    const width = this.#widthOf(owner, depth);
    this.#places[place * placeSize + 2] = width;
    const start = this.#tree.first[owner] as number;
    const count = this.#tree.upCount[owner] as number;
    const order = this.#ranker.order;
    if (width < count) this.#ranker.highest(start, count, width);
    else for (let i = 0; i < count; i++) order[i] = start + i;
    if (serving === owner && this.#areUp(order, width)) {
      for (let i = 0; i < width; i++) this.#add(order[i] as number, order[i] as number);
      return;
    }
    const owners = Array.from(order.subarray(0, width));
    const servers = this.#servers(serving, depth);
    for (const [i, own] of owners.entries()) this.#add(own, servers[i] ?? -1);
  }

  /** How many children a vertex contributes. */
  #widthOf(vertex: number, depth: number): number {
    if (vertex < 0) return 0;
    return Math.min(this.#width[depth] as number, this.#tree.upCount[vertex] as number);
  }

  #areUp(positions: ArrayLike<number>, size: number): boolean {
    for (let i = 0; i < size; i++) if (this.#use[positions[i] as number] !== 2) return false;
    return true;
  }

  /** The vertex that serves each of the first ranks below a vertex (P2); −1 for none. */
  #servers(vertex: number, depth: number): number[] {
    const width = this.#widthOf(vertex, depth);
    if (width === 0) return [];
    const ranks = this.#ranks(vertex, width);
    const isUp = (position: number) => this.#use[position] === 2;
    const taken = new Set<number>();
    const inLine = Array.from({ length: width }, (_, i) => {
      const server = ranks.find((position, rank) => rank % width === i && isUp(position)) ?? -1;
      taken.add(server);
      return server;
    });
    return inLine.map((server, i) => {
      if (server >= 0) return server;
      const owner = ranks[i] as number;
      const spare = ranks.find((position) => isUp(position) && !taken.has(position));
      const by = spare ?? (this.#use[owner] === 1 ? owner : -1);
      taken.add(by);
      return by;
    });
  }

  /** All children of a vertex, best first; in name order where all of them are used anyway. */
  #ranks(vertex: number, width: number): number[] {
    const start = this.#tree.first[vertex] as number;
    const count = this.#tree.upCount[vertex] as number;
    if (width === count) return Array.from({ length: count }, (_, i) => start + i);
    this.#ranker.highest(start, count, count);
    return Array.from(this.#ranker.order.subarray(0, count));
  }
}

/** The widths of a shape, given or worked out. */
function policyOf(topology: Topology, shape: PoolShape): CheckedPolicy {
  const { width, partitions, replicas, zones, ...rest } = shape;
  const given = checkPolicy(topology, { ...rest, ...(width === undefined ? {} : { width }) });
  if (partitions === undefined && replicas === undefined && zones === undefined) {
    if (width !== undefined) return given;
  } else if (width === undefined && partitions !== undefined && replicas !== undefined) {
    const size = { partitions, replicas, ...(zones === undefined ? {} : { zones }) };
    return checkPolicy(topology, { ...rest, width: widthOf(topology, given, size) });
  }
  throw new PlacementError(
    'bad_input',
    'The shape of a pool must have either "width" or both "partitions" and "replicas".',
  );
}

/** Numbers per place: owner, server, children. */
const placeSize = 3;

interface Selected {
  readonly topology: Topology;
  readonly names: readonly string[];
  readonly tree: Tree;
  readonly width: readonly number[];
  readonly collection: string;
  readonly places: Int32Array;
}

/** The slots of one collection, and where its keys live in them. */
export class Pool implements Placer {
  readonly collection: string;
  /** Paths of all targets of the topology. */
  readonly names: readonly string[];
  /** Per level: how many children each chosen vertex contributes; Infinity where it is all of them. */
  readonly width: readonly number[];
  readonly topology: Topology;
  readonly #tree: Tree;
  readonly #places: Int32Array;
  #vertices: readonly PoolVertex[] | null = null;
  #walk: Walk | null = null;

  constructor(selected: Selected) {
    this.topology = selected.topology;
    this.collection = selected.collection;
    this.width = selected.width;
    this.names = selected.names;
    this.#tree = selected.tree;
    this.#places = selected.places;
  }

  pick(hi: number, lo: number, count: number, out: Picks): number {
    return this.#picked(this.compile().number(hi, lo, count), out);
  }

  pickText(key: string, count: number, out: Picks): number {
    return this.#picked(this.compile().text(key, count), out);
  }

  #picked(size: number, out: Picks): number {
    for (let i = 0; i < size; i++) out[i] = this.compile().replica(i);
    return size;
  }

  /** The places as a tree: zones, their machines, their disks. */
  get vertices(): readonly PoolVertex[] {
    this.#vertices ??= readVertices(this.#places);
    return this.#vertices;
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
    return this.topology.targets[this.targetIndex(position)] as Vertex;
  }

  /** The same as an index into `names`. */
  targetIndex(position: number): number {
    return this.#tree.target[position] as number;
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
      const top = this.#branch(this.vertices, 0, 0);
      const policy = checkPolicy(this.topology, {});
      this.#walk = new Walk(layOut(top, this.topology.levels.length), policy, this.topology.hash);
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

/** Throws unless the value is a pool. */
export function checkPool(value: unknown): asserts value is Pool {
  if (value instanceof Pool) return;
  throw new PlacementError(
    'bad_input',
    `A pool as selectPool(topology, name, shape) makes is needed, not ${show(value)}.`,
  );
}

/** The copies that move when one pool becomes another. Throws PlacementError where its width changes. */
export function diffPools(before: Pool, after: Pool, input: DiffInput): Diff {
  checkPool(before);
  checkPool(after);
  refuseReshaping(after.topology.levels, before.width, after.width);
  return diff(before, after, input);
}

/** Prepares the selection of pools. Throws PlacementError for unknown levels or pins. */
export function compilePools(topology: Topology, shape: PoolShape): PoolSelector {
  return new PoolSelector(topology, shape);
}

/** The pool of one collection. For more than a few, compile once instead. */
export function selectPool(topology: Topology, collection: string, shape: PoolShape): Pool {
  return new PoolSelector(topology, shape).select(collection);
}

/** Breadth-first places as a tree: read from the back, children are complete before their parent. */
function readVertices(places: Int32Array): readonly PoolVertex[] {
  const count = places.length / placeSize;
  const vertices: PoolVertex[] = [];
  let end = count;
  for (let at = count - 1; at >= 0; at--) {
    const [owner, serving, childCount] = places.subarray(at * placeSize);
    end -= childCount as number;
    const children = vertices.slice(end, end + (childCount as number));
    vertices[at] = { owner: owner as number, serving: serving as number, children };
  }
  invariant(end <= 1, 'every place of a pool has its parent');
  return vertices[0]?.children ?? [];
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
