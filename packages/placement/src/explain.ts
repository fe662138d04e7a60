/**
 * Why a key lives where it lives: each step of the walk with its candidates and scores. Written for reading,
 * not for speed, and apart from `walk.ts` on purpose: the tests hold the two to the same answer.
 */
import { topologyAsked } from './accounts.ts';
import { murmur3 } from './flat/hash.ts';
import { type Health, health, type VertexState } from './health.ts';
import { type Key, type NumberKey, readKey } from './flat/key.ts';
import { logOfHash } from './flat/logarithm.ts';
import { type CheckedPolicy, checkPolicy, type Policy } from './policy.ts';
import { raiseUntilFree } from './flat/ranker.ts';
import type { Topology, Vertex } from './topology.ts';

export interface Candidate {
  readonly id: string;
  readonly path: string;
  readonly state: VertexState;
  readonly weight: number;
  /** The unsigned 32-bit score of key and vertex; null where nothing had to be ranked. */
  readonly score: number | null;
  /** Replicas handed to it. */
  readonly share: number;
}

/** One round: the children of one vertex, the ones with replicas first, in the order they are served. */
export interface Step {
  /** The vertex whose children are ranked; empty at the top. */
  readonly path: string;
  readonly level: string;
  readonly replicas: number;
  readonly candidates: readonly Candidate[];
  /** Vertices of this parent that were no candidates, with the reason. */
  readonly passedOver: readonly { readonly id: string; readonly reason: string }[];
}

export interface Explanation {
  readonly replicas: readonly string[];
  readonly wanted: number;
  /** In the order of the walk, parents before children. */
  readonly steps: readonly Step[];
}

/** Each step of the walk for a key. */
export function explain(asked: Topology, key: Key, policy: Policy = {}): Explanation {
  const checked = checkPolicy(asked, policy);
  const topology = topologyAsked(asked, policy.account);
  const walk: Reading = {
    topology,
    key: readKey(key),
    policy: checked,
    states: health(topology),
    steps: [],
  };
  const top = { path: '', children: topology.children, depth: -1 };
  const count = Math.min(checked.replicas, roomBelow(walk, top));
  const answer = count === 0 ? { replicas: [] } : placeBelow(walk, top, count);
  return { replicas: answer.replicas, wanted: checked.replicas, steps: walk.steps };
}

interface Reading {
  readonly topology: Topology;
  readonly key: string | NumberKey;
  readonly policy: CheckedPolicy;
  readonly states: ReadonlyMap<Vertex, Health>;
  readonly steps: Step[];
}

type Parent = Pick<Vertex, 'path' | 'children' | 'depth'>;

/** A candidate: how many replicas fit below it, and how many it is given. */
interface Room {
  readonly room: number;
  share: number;
}

/** A vertex in a ranking. */
interface Entry extends Room {
  readonly vertex: Vertex;
  readonly state: VertexState;
  readonly score: number | null;
}

interface Answer {
  readonly replicas: readonly string[];
  /** Of the first replica, at the first level with more than one candidate. */
  readonly firstScore: number;
}

function placeBelow(walk: Reading, parent: Parent, count: number): Answer {
  const { chosen, step, open } = choose(walk, parent, count);
  walk.steps.push(step);
  const first = chosen[0]?.score ?? 0;
  if (parent.depth + 1 === walk.topology.levels.length - 1) {
    return { replicas: chosen.map(({ vertex }) => vertex.path), firstScore: first };
  }
  const answers = chosen.map(({ vertex, share }) => placeBelow(walk, vertex, share));
  if (open) answers.sort((a, b) => b.firstScore - a.firstScore);
  const replicas: string[] = [];
  for (let round = 0; replicas.length < count; round++) {
    for (const answer of answers) replicas.push(...answer.replicas.slice(round, round + 1));
  }
  const own = step.candidates.length > 1 && !open;
  return { replicas, firstScore: own ? first : (answers[0]?.firstScore ?? 0) };
}

function choose(walk: Reading, parent: Parent, count: number) {
  const depth = parent.depth + 1;
  const width = walk.policy.width[depth] as number;
  const up = usable(walk, parent, 'up');
  const hollow = usable(walk, parent, 'hollow');
  const spare = roomOf(up, width) < count ? hollow : [];
  const lastLevel = depth === walk.topology.levels.length - 1;
  const open =
    !lastLevel &&
    spare.length === 0 &&
    up.length + hollow.length <= width &&
    sharesAreEqual(walk, up, count);
  const alone = up.length + spare.length === 1 && !lastLevel;
  const ranked = open || alone ? [...up, ...spare] : [...rank(walk, up), ...rank(walk, spare)];
  const kept = fitting(ranked, width, count);
  const holdUp = handOut(
    kept.filter(({ state }) => state === 'up'),
    count,
  );
  handOut(
    kept.filter(({ state }) => state === 'hollow'),
    count - holdUp,
  );
  const chosen = kept.filter(({ share }) => share > 0);
  const step: Step = {
    path: parent.path,
    level: walk.topology.levels[depth] as string,
    replicas: count,
    candidates: [...chosen, ...ranked.filter(({ share }) => share === 0)].map(shown),
    passedOver: passedOver(walk, parent, ranked),
  };
  return { chosen, step, open };
}

/** Whether ranking would decide nothing but the order; see W3 in walk.ts. */
function sharesAreEqual(walk: Reading, up: readonly Entry[], count: number): boolean {
  const share = count / up.length;
  return (
    walk.policy.roles === 'rank' &&
    up.length > 1 &&
    Number.isInteger(share) &&
    up.every(({ vertex, room }) => room >= share && vertex.weight === up[0]?.vertex.weight)
  );
}

/** The children in one state that have room, by weight, then name. */
function usable(walk: Reading, parent: Parent, state: VertexState): Entry[] {
  const pin = walk.policy.pin[parent.depth + 1] ?? null;
  return parent.children
    .filter((vertex) => walk.states.get(vertex)?.state === state)
    .filter((vertex) => pin === null || vertex.id === pin)
    .map((vertex) => ({ vertex, state, room: roomBelow(walk, vertex), score: null, share: 0 }))
    .filter(({ room }) => room > 0)
    .toSorted((a, b) => a.vertex.weight - b.vertex.weight);
}

/** Live targets below that the policy can reach. */
function roomBelow(walk: Reading, parent: Parent): number {
  const depth = parent.depth + 1;
  if (depth === walk.topology.levels.length) return 1;
  const all = [...usable(walk, parent, 'up'), ...usable(walk, parent, 'hollow')];
  return roomOf(all, walk.policy.width[depth] as number);
}

function roomOf(entries: readonly Room[], width: number): number {
  const rooms = entries.map(({ room }) => room).toSorted((a, b) => b - a);
  return rooms.slice(0, width).reduce((total, room) => total + room, 0);
}

/** Best first: by score, or by the weighted score where weights differ. */
function rank(walk: Reading, entries: readonly Entry[]): Entry[] {
  const hash = walk.topology.hash ?? murmur3;
  const { key } = walk;
  const taken = new Set<number>();
  const scored = entries.map((entry) => {
    const { seed } = entry.vertex;
    const raw = typeof key === 'string' ? hash.text(key, seed) : hash.number(key.hi, key.lo, seed);
    return { ...entry, score: raiseUntilFree(raw, taken) };
  });
  const uniform = scored.every(({ vertex }) => vertex.weight === scored[0]?.vertex.weight);
  const value = (score: number, { weight }: Vertex) =>
    uniform ? score : logOfHash(score) / weight;
  const best = scored.toSorted((a, b) => value(b.score, b.vertex) - value(a.score, a.vertex));
  if (walk.policy.roles === 'rank') return best;
  const mirrored = (entry: (typeof scored)[number]) =>
    value(2 ** 32 - 1 - entry.score, entry.vertex);
  const primary = scored.toSorted((a, b) => mirrored(b) - mirrored(a)).slice(0, 1);
  return [...primary, ...best.filter((entry) => !primary.includes(entry))];
}

/** The first in order with which `width` of them can still hold `count`. */
function fitting(ranked: readonly Entry[], width: number, count: number): Entry[] {
  const kept: Entry[] = [];
  for (const [i, entry] of ranked.entries()) {
    if (kept.length === width || kept.length === count) break;
    const later = roomOf(ranked.slice(i + 1), width - kept.length - 1);
    if (roomOf([...kept, entry], width) + later >= count) kept.push(entry);
  }
  return kept;
}

/** One replica each in order, round after round, up to each one's room; returns how many were handed out. */
export function handOut(entries: readonly Room[], count: number): number {
  const total = Math.min(count, roomOf(entries, entries.length));
  for (let left = total; left > 0; ) {
    for (const entry of entries) {
      if (left === 0 || entry.share === entry.room) continue;
      entry.share++;
      left--;
    }
  }
  return total;
}

function shown({ vertex, state, score, share }: Entry): Candidate {
  return { id: vertex.id, path: vertex.path, state, weight: vertex.weight, score, share };
}

function passedOver(walk: Reading, parent: Parent, ranked: readonly Entry[]): Step['passedOver'] {
  return parent.children
    .filter((vertex) => ranked.every((entry) => entry.vertex !== vertex))
    .map((vertex) => {
      const pin = walk.policy.pin[vertex.depth] ?? null;
      const state = walk.states.get(vertex)?.state ?? 'planned';
      return { id: vertex.id, reason: pin !== null && pin !== vertex.id ? `not ${pin}` : state };
    });
}
