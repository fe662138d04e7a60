/**
 * Why a key lives where it lives in the tree of a pool: each round of the walk, with candidates and scores. Written for
 * reading and apart from `walk.ts` on purpose, as `explain.ts` is: tests hold the two to the same answer.
 */
import { type Candidate, type Explanation, handOut, type Step } from '../explain.ts';
import { murmur3 } from '../flat/hash.ts';
import { type Key, type NumberKey, readKey } from '../flat/key.ts';
import { raiseUntilFree } from '../flat/ranker.ts';
import { wholeNumber } from '../input.ts';
import { replicasMax } from '../policy.ts';
import { checkPool, type Pool, type PoolVertex } from './pool.ts';

interface Reading {
  readonly pool: Pool;
  readonly key: string | NumberKey;
  readonly steps: Step[];
}

/** A place of the pool in a ranking. */
interface Entry {
  readonly vertex: PoolVertex;
  readonly path: string;
  /** Slots below that are served. */
  readonly room: number;
  /** null: nothing had to be ranked. */
  score: number | null;
  share: number;
}

interface Parent {
  readonly path: string;
  readonly children: readonly PoolVertex[];
  readonly depth: number;
}

interface Answer {
  readonly replicas: readonly string[];
  /** Of the first replica, at the first level with more than one candidate. */
  readonly firstScore: number;
}

/** Each round of the walk down the tree of a pool. */
export function explainPool(pool: Pool, key: Key, replicas: number): Explanation {
  checkPool(pool);
  wholeNumber(replicas, 'The number of replicas', { min: 0, max: replicasMax });
  const reading: Reading = { pool, key: readKey(key), steps: [] };
  const top = { path: '', children: pool.vertices, depth: 0 };
  const count = Math.min(replicas, roomOf(reading, top.children, 0));
  const answer = count === 0 ? { replicas: [] } : placeBelow(reading, top, count);
  return { replicas: answer.replicas, wanted: replicas, steps: reading.steps };
}

function placeBelow(reading: Reading, parent: Parent, count: number): Answer {
  const { levels } = reading.pool.topology;
  const isLast = parent.depth === levels.length - 1;
  const entries = parent.children
    .map((vertex) => entryOf(reading, vertex, parent.depth))
    .filter(({ room }) => room > 0);
  const share = count / entries.length;
  // Where each gets the same at any rank, their order is that of their own first scores.
  const isOpen =
    !isLast &&
    entries.length > 1 &&
    Number.isInteger(share) &&
    entries.every(({ room }) => room >= share);
  const isAlone = entries.length === 1 && !isLast;
  const ranked = isOpen || isAlone ? entries : rank(reading, entries);
  handOut(ranked, count);
  const chosen = ranked.filter((entry) => entry.share > 0);
  const first = chosen[0]?.score ?? 0;
  reading.steps.push(stepOf(reading, parent, { ranked, count }));
  if (isLast) return { replicas: chosen.map(({ path }) => path), firstScore: first };
  const answers = chosen.map(({ path, vertex, share: copies }) =>
    placeBelow(reading, { path, children: vertex.children, depth: parent.depth + 1 }, copies),
  );
  if (isOpen) answers.sort((a, b) => b.firstScore - a.firstScore);
  const replicas: string[] = [];
  for (let round = 0; replicas.length < count; round++) {
    for (const answer of answers) replicas.push(...answer.replicas.slice(round, round + 1));
  }
  const own = entries.length > 1 && !isOpen;
  return { replicas, firstScore: own ? first : (answers[0]?.firstScore ?? 0) };
}

function entryOf(reading: Reading, vertex: PoolVertex, depth: number): Entry {
  const { pool } = reading;
  const isLast = depth === pool.topology.levels.length - 1;
  const path = isLast ? servingPath(pool, vertex) : ownerPath(pool, vertex, depth);
  return { vertex, path, room: roomOf(reading, [vertex], depth), score: null, share: 0 };
}

/** Slots that are served, in and below some places of one level. */
function roomOf(reading: Reading, vertices: readonly PoolVertex[], depth: number): number {
  const isLast = depth === reading.pool.topology.levels.length - 1;
  return vertices.reduce((sum, { serving, children }) => {
    if (isLast) return sum + (serving < 0 ? 0 : 1);
    return sum + roomOf(reading, children, depth + 1);
  }, 0);
}

function servingPath(pool: Pool, { serving }: PoolVertex): string {
  return serving < 0 ? '' : pool.target(serving).path;
}

/** The path of the vertex that ranks in a place: the beginning of the path of any target below it. */
function ownerPath(pool: Pool, vertex: PoolVertex, depth: number): string {
  let at = vertex;
  while (at.children[0] !== undefined) at = at.children[0];
  return pool
    .target(at.owner)
    .path.split('/')
    .slice(0, depth + 1)
    .join('/');
}

/** Highest score first. */
function rank({ pool, key }: Reading, entries: readonly Entry[]): Entry[] {
  const hash = pool.topology.hash ?? murmur3;
  const taken = new Set<number>();
  for (const entry of entries) {
    const seed = pool.seed(entry.vertex.owner);
    const raw = typeof key === 'string' ? hash.text(key, seed) : hash.number(key.hi, key.lo, seed);
    entry.score = raiseUntilFree(raw, taken);
  }
  return entries.toSorted((a, b) => (b.score ?? 0) - (a.score ?? 0));
}

function stepOf(
  { pool }: Reading,
  { path, depth, children }: Parent,
  { ranked, count }: { readonly ranked: readonly Entry[]; readonly count: number },
): Step {
  const shown = ({ path: own, score, share }: Entry): Candidate => ({
    id: own.split('/').at(-1) as string,
    path: own,
    state: 'up',
    weight: 1,
    score,
    share,
  });
  const used = ranked.filter(({ share }) => share > 0);
  const idle = children.filter((vertex) => ranked.every((entry) => entry.vertex !== vertex));
  return {
    path,
    level: pool.topology.levels[depth] as string,
    replicas: count,
    candidates: [...used, ...ranked.filter(({ share }) => share === 0)].map(shown),
    passedOver: idle.map((vertex) => ({
      id: ownerPath(pool, vertex, depth).split('/').at(-1) as string,
      reason: 'nothing left to serve',
    })),
  };
}
