/**
 * The weighted tree that placement walks: domains with named levels, targets at the last one, slots below. This file
 * has the types, and builds a checked, immutable topology from its plain form (parsed JSON or YAML). Health,
 * placement, pools and diffs read it; `change.ts` makes a changed copy.
 *
 * Y1. All targets are at one depth; only a planned branch (weight 0) may end early.
 * Y2. The order of children never matters: they are kept in name order.
 * Y3. A vertex's seed is the hash of its id under its parent's seed (0 at the top), so a one-level topology ranks
 *     exactly as flat targets do, and equal ids under different parents rank independently. Siblings that collide are
 *     raised as flat targets are, planned ones included: using one later changes no seed.
 */
import { PlacementError } from './errors.ts';
import { compareNames, type Hash, murmur3 } from './flat/hash.ts';
import { algorithm, checkName, checkWeight, seedsOf } from './flat/rendezvous.ts';
import { list, perLevel, record, refuseUnknownFields, unit, wholeNumber } from './input.ts';
import { verticesMax, withoutTree } from './tree-spec.ts';

/** Whether a domain's share is the weight that the operator set, or that weight times the sum below it. */
export type Weights = 'set' | 'sum';

/** A fan-out below the targets: cannot fail, costs no ranking. */
export interface SlotLevel {
  readonly name: string;
  readonly count: number;
}

/** A planned growth step that accounts come to see one after the other. */
export interface Expansion {
  readonly id: string;
  /** The share of older accounts that see it: 0 none, 1 all. */
  readonly rollout: number;
}

/** The plain form of a vertex, as written by people. */
export interface VertexSpec {
  /** Unique among its siblings, stable for its whole life, without "/". */
  readonly id: string;
  /** Relative share among its siblings, default 1. 0: planned, gets nothing yet. */
  readonly weight?: number;
  /** Default true. A domain that is not up takes everything below it down. */
  readonly up?: boolean;
  /** The expansion that brings this vertex; without one every account sees it. */
  readonly expansion?: string;
  readonly children?: readonly VertexSpec[];
}

/** The plain form of a topology. */
export interface TopologySpec {
  /** When present, must be the id of this release's algorithm. */
  readonly algorithm?: string;
  /** Names from wide to narrow; the last one is the level of the targets. */
  readonly levels: readonly string[];
  /** Per level: how many children of one parent may have failed. Levels not named: any number. */
  readonly quorum?: Readonly<Record<string, number>>;
  readonly weights?: Weights;
  readonly slots?: readonly SlotLevel[];
  /** Oldest first. */
  readonly expansions?: readonly Expansion[];
  readonly children: readonly VertexSpec[];
}

/** The plain form of a regular tree, in the place of `levels` and `children`. */
export interface RegularSpec extends Omit<TopologySpec, 'levels' | 'children'> {
  /** Children at each level, from wide to narrow; ids are the level's first letter and a number. */
  readonly tree: Readonly<Record<string, number>>;
  /** The vertices that differ, by path. */
  readonly vertices?: Readonly<Record<string, Omit<VertexSpec, 'id' | 'children'>>>;
}

export interface Vertex {
  readonly id: string;
  /** The ids from the top, joined by "/". */
  readonly path: string;
  /** Index into `levels`. */
  readonly depth: number;
  /** The weight used for ranking: with `weights: 'sum'` this includes the vertices below. */
  readonly weight: number;
  /** As the operator set it. */
  readonly ownWeight: number;
  readonly up: boolean;
  readonly expansion: string | null;
  readonly seed: number;
  readonly children: readonly Vertex[];
}

export interface Topology {
  readonly algorithm: string;
  readonly levels: readonly string[];
  /** Per level, Infinity where none was set. */
  readonly quorum: readonly number[];
  readonly weights: Weights;
  readonly slots: readonly SlotLevel[];
  readonly expansions: readonly Expansion[];
  readonly children: readonly Vertex[];
  /** All vertices of the last level, planned and dead ones included, from left to right. */
  readonly targets: readonly Vertex[];
  /** Instead of MurmurHash3, for tests; null in real life. */
  readonly hash: Hash | null;
}

const topologyFields = [
  'algorithm',
  'levels',
  'quorum',
  'weights',
  'slots',
  'expansions',
  'children',
  'tree',
  'vertices',
] as const satisfies (keyof TopologySpec | keyof RegularSpec)[];
const vertexFields = [
  'id',
  'weight',
  'up',
  'expansion',
  'children',
] as const satisfies (keyof VertexSpec)[];
const slotFields = ['name', 'count'] as const satisfies (keyof SlotLevel)[];
const expansionFields = ['id', 'rollout'] as const satisfies (keyof Expansion)[];

export const levelsMax = 16;
export const separator = '/';

/** Checks the plain form and builds a topology; throws PlacementError naming the offending vertex by its path. */
export function buildTopology(spec: unknown, hash: Hash | null = null): Topology {
  const given = record(spec, 'The topology');
  refuseUnknownFields(given, topologyFields, { what: 'A topology' });
  const input = withoutTree(given);
  if (input['algorithm'] !== undefined && input['algorithm'] !== algorithm) {
    throw new PlacementError(
      'bad_input',
      `The topology is for the algorithm ${JSON.stringify(input['algorithm'])}; this release has "${algorithm}".`,
    );
  }
  const levels = readNames(input['levels'], 'levels');
  const expansions = readExpansions(input['expansions']);
  const reader: Reader = {
    levels,
    hash: hash ?? murmur3,
    weights: readWeights(input['weights']),
    expansions: new Set(expansions.map(({ id }) => id)),
    ancestors: [],
    count: 0,
  };
  const children = readChildren(reader, input['children'], { path: '', seed: 0, planned: false });
  return {
    algorithm,
    levels,
    quorum: readQuorum(input['quorum'], levels),
    weights: reader.weights,
    slots: readSlots(input['slots'], levels),
    expansions,
    children,
    targets: targetsOf(children, levels.length - 1),
    hash,
  };
}

/** The targets below some vertices, from left to right. */
export function targetsOf(vertices: readonly Vertex[], targetDepth: number): Vertex[] {
  return vertices.flatMap((vertex) =>
    vertex.depth === targetDepth ? [vertex] : targetsOf(vertex.children, targetDepth),
  );
}

/** Puts siblings in name order, gives them seeds and, where asked, summed weights. */
function joinSiblings(
  parentSeed: number,
  weights: Weights,
  hash: Hash,
  specs: readonly Sibling[],
): Vertex[] {
  const sorted = specs.toSorted((a, b) => compareNames(a.id, b.id));
  const seeds = seedsOf(
    sorted.map(({ id }) => ({ name: id })),
    (name) => hash.text(name, parentSeed),
  );
  return sorted.map(({ childrenOf, ...own }, i) => {
    const seed = seeds[i] as number;
    const children = childrenOf(seed);
    const sum = children.reduce((total, child) => total + child.weight, 0);
    const weight = weights === 'sum' && children.length > 0 ? own.ownWeight * sum : own.ownWeight;
    return { ...own, seed, children, weight };
  });
}

/** A vertex before it knows its seed; its children need the seed first. */
interface Sibling extends Omit<Vertex, 'seed' | 'children' | 'weight'> {
  readonly childrenOf: (seed: number) => readonly Vertex[];
}

interface Reader {
  readonly levels: readonly string[];
  readonly hash: Hash;
  readonly weights: Weights;
  readonly expansions: ReadonlySet<string>;
  /** The plain vertices between the top and here: meeting one again is a cycle. */
  readonly ancestors: unknown[];
  count: number;
}

interface Parent {
  readonly path: string;
  readonly seed: number;
  /** Whether this or a vertex above has weight 0. */
  readonly planned: boolean;
}

function readChildren(reader: Reader, value: unknown, parent: Parent): Vertex[] {
  const where = parent.path === '' ? 'The topology' : `"${parent.path}"`;
  const seen = new Set<string>();
  const siblings = list(value ?? [], `The children of ${where}`).map((child) => {
    const sibling = readVertex(reader, child, parent);
    if (seen.has(sibling.id)) {
      throw new PlacementError(
        'duplicate_id',
        `"${sibling.path}" is listed twice; ids must be unique among siblings.`,
        sibling.path,
      );
    }
    seen.add(sibling.id);
    return sibling;
  });
  if (siblings.length === 0 && !parent.planned && parent.path !== '') {
    const depth = reader.ancestors.length;
    throw new PlacementError(
      'uneven_depth',
      `"${parent.path}" ends at level "${reader.levels[depth - 1]}"; targets must be at level "${reader.levels.at(-1)}" (only weight 0 may end early).`,
      parent.path,
    );
  }
  return joinSiblings(parent.seed, reader.weights, reader.hash, siblings);
}

function readVertex(reader: Reader, value: unknown, parent: Parent): Sibling {
  const input = record(value, `A child of "${parent.path}"`, parent.path);
  const id = input['id'];
  checkName(id, parent.path === '' ? 'the top' : parent.path);
  const path = parent.path === '' ? id : `${parent.path}${separator}${id}`;
  const fail = (code: 'bad_id' | 'too_large' | 'cycle', message: string) =>
    new PlacementError(code, message, path);
  refuseUnknownFields(input, vertexFields, { what: `The vertex "${path}"`, path });
  if (id.includes(separator)) throw fail('bad_id', `The id of "${path}" must not contain "/".`);
  if (reader.ancestors.includes(value)) {
    throw fail('cycle', `"${path}" is its own ancestor; a topology must be a tree.`);
  }
  if (++reader.count > verticesMax) {
    throw fail('too_large', `A topology may have at most ${verticesMax} vertices.`);
  }
  const ownWeight = input['weight'] ?? 1;
  checkWeight(ownWeight, path);
  const depth = reader.ancestors.length;
  return {
    id,
    path,
    depth,
    ownWeight,
    up: readUp(input['up'], path),
    expansion: readExpansionId(reader, input['expansion'], path),
    childrenOf: (seed) => {
      const below: Parent = { path, seed, planned: parent.planned || ownWeight === 0 };
      return readBelow(reader, value, below, depth);
    },
  };
}

function readBelow(reader: Reader, value: unknown, parent: Parent, depth: number): Vertex[] {
  const children = (value as Record<string, unknown>)['children'];
  if (depth === reader.levels.length - 1) {
    if (children === undefined || (Array.isArray(children) && children.length === 0)) return [];
    if (Array.isArray(children) && [...reader.ancestors, value].some((a) => children.includes(a))) {
      throw new PlacementError(
        'cycle',
        `"${parent.path}" has an ancestor as a child; a topology must be a tree.`,
        parent.path,
      );
    }
    throw new PlacementError(
      'uneven_depth',
      `"${parent.path}" is at the last level "${reader.levels[depth]}" and has children; it must be a target.`,
      parent.path,
    );
  }
  reader.ancestors.push(value);
  const vertices = readChildren(reader, children, parent);
  reader.ancestors.pop();
  return vertices;
}

function readUp(value: unknown, path: string): boolean {
  if (value === undefined) return true;
  if (typeof value === 'boolean') return value;
  throw new PlacementError('bad_input', `"up" of "${path}" must be true or false.`, path);
}

function readExpansionId(reader: Reader, value: unknown, path: string): string | null {
  if (value === undefined) return null;
  if (typeof value === 'string' && reader.expansions.has(value)) return value;
  throw new PlacementError(
    'unknown_vertex',
    `"${path}" belongs to the expansion ${JSON.stringify(value)}, which is not listed in "expansions".`,
    path,
  );
}

function readNames(value: unknown, what: string): string[] {
  const names = list(value, `"${what}"`);
  checkUnique(names, what);
  if (names.length >= 1 && names.length <= levelsMax) return names as string[];
  throw new PlacementError('bad_input', `"${what}" must list 1 to ${levelsMax} names.`);
}

function checkUnique(names: readonly unknown[], what: string): void {
  const seen = new Set<unknown>();
  for (const name of names) {
    checkName(name);
    if (seen.has(name)) {
      throw new PlacementError('duplicate_id', `"${what}" names "${name}" twice.`);
    }
    seen.add(name);
  }
}

function readWeights(value: unknown): Weights {
  if (value === undefined || value === 'set' || value === 'sum') return value ?? 'set';
  throw new PlacementError(
    'bad_input',
    `"weights" must be "set" or "sum", not ${JSON.stringify(value)}.`,
  );
}

function readQuorum(value: unknown, levels: readonly string[]): number[] {
  return perLevel(levels, value, 'quorum').map((quorum, i) =>
    quorum === undefined
      ? Number.POSITIVE_INFINITY
      : wholeNumber(quorum, `The quorum of "${levels[i]}"`, { min: 0, max: verticesMax }),
  );
}

function readSlots(value: unknown, levels: readonly string[]): SlotLevel[] {
  const slots = list(value ?? [], '"slots"').map((slot) => {
    const input = record(slot, 'A slot level');
    const { name, count } = input;
    checkName(name);
    refuseUnknownFields(input, slotFields, { what: `The slot level "${name}"` });
    return { name, count: wholeNumber(count, `The count of "${name}"`, { min: 1, max: 2 ** 24 }) };
  });
  checkUnique([...levels, ...slots.map(({ name }) => name)], 'slots');
  const product = slots.reduce((total, { count }) => total * count, 1);
  if (product <= 2 ** 24) return slots;
  throw new PlacementError('too_large', `A target may have at most 2²⁴ slots, not ${product}.`);
}

function readExpansions(value: unknown): Expansion[] {
  const expansions = list(value ?? [], '"expansions"').map((expansion) => {
    const input = record(expansion, 'An expansion');
    const { id, rollout } = input;
    checkName(id);
    refuseUnknownFields(input, expansionFields, { what: `The expansion "${id}"` });
    return { id, rollout: unit(rollout, `The rollout of "${id}"`) };
  });
  if (expansions.length > 30) {
    throw new PlacementError('too_large', 'A topology may have at most 30 expansions.');
  }
  checkUnique(
    expansions.map(({ id }) => id),
    'expansions',
  );
  return expansions;
}
