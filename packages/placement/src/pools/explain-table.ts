/**
 * Why a key of a table lives where it lives: each round of the walk through the virtual tree, with candidates and
 * scores. Written for reading and apart from `virtual-tree.ts` on purpose, as `explain.ts` is from `walk.ts`: tests
 * hold the two to the same answer.
 */
import type { Candidate, Explanation, Step } from '../explain.ts';
import { murmur3 } from '../flat/hash.ts';
import { type Key, type NumberKey, readKey } from '../flat/key.ts';
import { raiseUntilFree } from '../flat/ranker.ts';
import { scale, slotCount } from '../slots.ts';
import type { PoolVertex } from './pool.ts';
import { checkTree, stripeSeeds, type VirtualTree, type Zone } from './virtual-tree.ts';

interface Reading {
  readonly tree: VirtualTree;
  readonly key: string | NumberKey;
}

/** Each round for a key: zones where they do not share equally; then per zone the stripe, and the machines. */
export function explainTable(tree: VirtualTree, key: Key, replicas: number): Explanation {
  checkTree(tree);
  const reading: Reading = { tree, key: readKey(key) };
  const leaves = tree.place(key, replicas);
  const { shares, step } = handOut(reading, replicas);
  const rounds = tree.zones.flatMap((zone, i) => zoneRounds(reading, zone, shares[i] as number));
  return {
    replicas: leaves.map(({ path }) => path),
    wanted: replicas,
    steps: step === null ? rounds : [step, ...rounds],
  };
}

/** Replicas of each zone, and the round that decides over the remainder; null: there is none. */
function handOut(reading: Reading, replicas: number): { shares: number[]; step: Step | null } {
  const { zones, pool } = reading.tree;
  const each = Math.floor(replicas / zones.length);
  const rest = replicas % zones.length;
  const shares = zones.map(() => each);
  if (rest === 0) return { shares, step: null };
  const scored = ranked(
    reading,
    zones.map(({ seed }) => seed),
  );
  for (const { at } of scored.slice(0, rest)) shares[at] = each + 1;
  const candidates = scored.map(({ at, score }) => {
    const path = zonePath(reading.tree, zones[at] as Zone);
    return candidate(path, score, shares[at] as number);
  });
  const level = pool.topology.levels.at(-3) ?? 'zone';
  return { shares, step: { path: '', level, replicas, candidates, passedOver: [] } };
}

function zoneRounds(reading: Reading, zone: Zone, share: number): Step[] {
  if (share === 0) return [];
  const { tree } = reading;
  const path = zonePath(tree, zone);
  const { stripe, steps } = stripeRounds(reading, zone, path);
  const disk = Math.floor(stripe / slotCount(tree.pool.topology.slots));
  return [...steps, machineRound(reading, { zone, path, disk, share })];
}

/** The stripe of the key in a zone: a round of each fan-out, or one hash whose bits are the stripe. */
function stripeRounds(
  reading: Reading,
  { seed }: Zone,
  path: string,
): { stripe: number; steps: Step[] } {
  const { tree } = reading;
  const rounds = stripeSeeds(seed, tree.stripeFanOuts);
  const round = (level: string, candidates: Candidate[]): Step => {
    return { path, level, replicas: 1, candidates, passedOver: [] };
  };
  if (tree.stripeFanOuts.length === 0) {
    const [first] = ranked(reading, rounds[0] as number[]);
    const stripe = scale(first?.score ?? 0, tree.stripeCount);
    return { stripe, steps: [round('stripe', [candidate(String(stripe), first?.score ?? 0, 1)])] };
  }
  let index = 0;
  let product = 1;
  const steps = rounds.map((seeds, i) => {
    const scored = ranked(reading, seeds);
    index = index * seeds.length + (scored[0]?.at ?? 0);
    product *= seeds.length;
    const candidates = scored.map(({ at, score }, rank) =>
      candidate(String(at), score, rank === 0 ? 1 : 0),
    );
    return round(`stripe ${i + 1}`, candidates);
  });
  return { stripe: Math.floor((index * tree.stripeCount) / product), steps };
}

interface MachineRound {
  readonly zone: Zone;
  readonly path: string;
  readonly disk: number;
  readonly share: number;
}

function machineRound(reading: Reading, { zone, path, disk, share }: MachineRound): Step {
  const { pool } = reading.tree;
  const scored = ranked(
    reading,
    zone.machines.map(({ owner }) => pool.seed(owner)),
  );
  const diskOf = (at: number): PoolVertex | undefined => zone.machines[at]?.children[disk];
  const serves = scored.filter(({ at }) => (diskOf(at)?.serving ?? -1) >= 0);
  const candidates = serves.map(({ at, score }, rank) =>
    candidate(pool.target(diskOf(at)?.serving ?? 0).path, score, rank < share ? 1 : 0),
  );
  const idle = scored.filter(({ at }) => !serves.some((one) => one.at === at));
  return {
    path,
    level: pool.topology.levels.at(-2) as string,
    replicas: share,
    candidates,
    passedOver: idle.map(({ at }) => ({ id: String(at), reason: 'no disk left to serve' })),
  };
}

/** Positions with their scores, highest first; equal scores are raised in the order of positions. */
function ranked({ tree, key }: Reading, seeds: readonly number[]): { at: number; score: number }[] {
  const hash = tree.pool.topology.hash ?? murmur3;
  const taken = new Set<number>();
  return seeds
    .map((seed, at) => {
      const raw =
        typeof key === 'string' ? hash.text(key, seed) : hash.number(key.hi, key.lo, seed);
      return { at, score: raiseUntilFree(raw, taken) };
    })
    .toSorted((a, b) => b.score - a.score);
}

function candidate(path: string, score: number, share: number): Candidate {
  return { id: path, path, state: 'up', weight: 1, score, share };
}

/** The path of a zone: that of any disk that it owns, without machine and disk. */
function zonePath({ pool }: VirtualTree, { machines }: Zone): string {
  const owner = machines.flatMap(({ children }) => children)[0]?.owner;
  return owner === undefined ? '' : pool.target(owner).path.split('/').slice(0, -2).join('/');
}
