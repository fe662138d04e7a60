/**
 * Gradual growth: which parts of a topology an account sees. A vertex may belong to an expansion; accounts created
 * under that expansion or a later one see it at once, older ones when their hash falls below the expansion's rollout.
 * The parts that an account does not see are planned for it (weight 0).
 *
 * A1. Raising a rollout only adds accounts: each switches once, so no key moves twice for one expansion.
 * A2. An account's hash depends on the account and the expansion alone, so expansions reach accounts in different
 *     orders and no account is always the first.
 */
import { checkTopology } from './built.ts';
import { mapVertices } from './change.ts';
import { PlacementError } from './errors.ts';
import { hashText } from './flat/hash.ts';
import { record, refuseUnknownFields } from './input.ts';
import type { Topology } from './topology.ts';

export interface Account {
  readonly id: string;
  /** The newest expansion when the account was created; absent: older than all of them. */
  readonly createdUnder?: string;
}

const accountFields = ['id', 'createdUnder'] as const satisfies (keyof Account)[];

/** A number from 0 (included) to 1 (excluded) that says how early an account sees an expansion. */
export function rolloutPoint(accountId: string, expansionId: string): number {
  return hashText(accountId, hashText(expansionId, 0)) / 2 ** 32;
}

/** The expansions an account sees, oldest first. Accounts with equal lists share one topology. */
export function seenExpansions(topology: Topology, account: Account): string[] {
  checkTopology(topology);
  const { expansions } = topology;
  refuseUnknownFields(record(account, 'An account'), accountFields, { what: 'An account' });
  if (typeof account.id !== 'string') {
    throw new PlacementError('bad_id', 'The id of an account must be a text.');
  }
  const createdAt = expansions.findIndex(({ id }) => id === account.createdUnder);
  if (createdAt < 0 && account.createdUnder !== undefined) {
    throw new PlacementError(
      'unknown_vertex',
      `The account "${account.id}" was created under the expansion "${account.createdUnder}", which the topology does not list.`,
    );
  }
  return expansions
    .filter(({ id, rollout }, i) => i <= createdAt || rolloutPoint(account.id, id) < rollout)
    .map(({ id }) => id);
}

/**
 * The topology as an account sees it, with no expansion left open. Compile it once per distinct `seenExpansions`,
 * not per account.
 */
export function topologyFor(topology: Topology, account: Account): Topology {
  const seen = new Set(seenExpansions(topology, account));
  const decided = mapVertices(topology, ({ expansion, ownWeight }) => ({
    expansion: null,
    ownWeight: expansion === null || seen.has(expansion) ? ownWeight : 0,
  }));
  return { ...decided, expansions: [] };
}

/**
 * The topology for a question that may name an account; refused where the answer depends on an account and none is
 * named.
 */
export function topologyAsked(topology: Topology, account: Account | undefined): Topology {
  checkTopology(topology);
  if (account !== undefined) return topologyFor(topology, account);
  const open = topology.expansions.filter(({ rollout }) => rollout < 1);
  if (open.length === 0) return topology;
  const names = open.map(({ id, rollout }) => `"${id}" (${rollout})`).join(', ');
  throw new PlacementError(
    'account_needed',
    `Accounts see different parts of this topology while rollouts are below 1: ${names}. Name the account.`,
  );
}
