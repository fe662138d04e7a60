/**
 * Where a key lives in a topology: `compileTopology` for many lookups, `place` for one. The walk itself is in
 * `walk.ts`; this file gives it names, keys and an answer people can read.
 */
import { topologyAsked } from './accounts.ts';
import { invariant } from './errors.ts';
import { type Key, readKey } from './flat/key.ts';
import { type CheckedPolicy, checkPolicy, type Policy } from './policy.ts';
import type { Picks, Placer } from './flat/rendezvous.ts';
import { readSlot } from './slots.ts';
import type { Topology, Vertex } from './topology.ts';
import { compileTree } from './tree.ts';
import { Walk } from './walk.ts';

export interface Replica {
  /** The target's path from the top. */
  readonly path: string;
  /** Index per slot level of the topology; empty when it has none. */
  readonly slot: readonly number[];
}

export interface Placement {
  /** Primary first. */
  readonly replicas: readonly Replica[];
  /** How many the policy asked for. */
  readonly wanted: number;
  /** False when there are not enough live targets: `replicas` then has all that can be used. */
  readonly complete: boolean;
}

/** A topology and a policy made ready for lookups. Immutable; a changed topology is compiled anew. */
export class CompiledTopology implements Placer {
  /** Paths of all targets, from left to right; planned and dead ones are never picked. */
  readonly names: readonly string[];
  /** As the account of the policy sees it. */
  readonly topology: Topology;
  readonly policy: CheckedPolicy;
  readonly #walk: Walk;

  constructor(topology: Topology, policy: Policy) {
    this.policy = checkPolicy(topology, policy);
    this.topology = topologyAsked(topology, policy.account);
    this.names = this.topology.targets.map(({ path }) => path);
    this.#walk = new Walk(compileTree(this.topology, this.policy), this.policy, topology.hash);
  }

  /** Live targets that the policy can reach: no key gets more replicas than that. */
  get room(): number {
    return this.#walk.room;
  }

  pick(hi: number, lo: number, count: number, out: Picks): number {
    const size = this.#walk.number(hi, lo, count);
    for (let i = 0; i < size; i++) out[i] = this.#walk.replica(i);
    return size;
  }

  pickText(key: string, count: number, out: Picks): number {
    const size = this.#walk.text(key, count);
    for (let i = 0; i < size; i++) out[i] = this.#walk.replica(i);
    return size;
  }

  /** The replicas of a key with paths and slots. For people; allocates. */
  place(key: Key): Placement {
    const read = readKey(key);
    const wanted = this.policy.replicas;
    const size =
      typeof read === 'string'
        ? this.#walk.text(read, wanted)
        : this.#walk.number(read.hi, read.lo, wanted);
    const targets = Array.from(
      { length: size },
      (_, i) => this.topology.targets[this.#walk.replica(i)] as Vertex,
    );
    invariant(new Set(targets).size === size, 'no target is placed twice');
    const replicas = targets.map((target) => ({
      path: target.path,
      slot: readSlot(this.topology, target, read),
    }));
    return { replicas, wanted, complete: size === wanted };
  }
}

/** Prepares a topology for lookups under a policy. */
export function compileTopology(topology: Topology, policy: Policy = {}): CompiledTopology {
  return new CompiledTopology(topology, policy);
}

/** Where one key lives. For more than a few keys, compile once instead. */
export function place(topology: Topology, key: Key, policy: Policy = {}): Placement {
  return compileTopology(topology, policy).place(key);
}
