import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rolloutPoint, seenExpansions, topologyFor } from './accounts.ts';
import { explain } from './explain.ts';
import { compileTopology, place } from './place.ts';
import { selectPool } from './pools/pool.ts';
import { buildTopology, type Topology } from './topology.ts';

/** Two old racks, a third that comes with the expansion "2026", a fourth with "2027". */
function growing(rollout2026: number, rollout2027 = 0): Topology {
  const disks = ['d0', 'd1', 'd2'].map((id) => ({ id }));
  return buildTopology({
    levels: ['rack', 'disk'],
    expansions: [
      { id: '2026', rollout: rollout2026 },
      { id: '2027', rollout: rollout2027 },
    ],
    children: [
      { id: 'r0', children: disks },
      { id: 'r1', children: disks },
      { id: 'r2', expansion: '2026', children: disks },
      { id: 'r3', expansion: '2027', children: disks },
    ],
  });
}

function primary(topology: Topology, account: { id: string; createdUnder?: string }, key: string) {
  return compileTopology(topologyFor(topology, account)).place(`${account.id}/${key}`).replicas[0]
    ?.path;
}

const accounts = Array.from({ length: 400 }, (_, i) => ({ id: `account ${i}` }));

describe('seed 003, scaling example', () => {
  test('we can assign a weight of 1 only to new accounts: they see the new rack, old ones do not', () => {
    const topology = growing(0);
    expect(seenExpansions(topology, { id: 'old' })).toEqual([]);
    expect(seenExpansions(topology, { id: 'new', createdUnder: '2026' })).toEqual(['2026']);
    expect(seenExpansions(topology, { id: 'newer', createdUnder: '2027' })).toEqual([
      '2026',
      '2027',
    ]);
    const racks = (account: { id: string; createdUnder?: string }) =>
      new Set(
        Array.from({ length: 200 }, (_, i) => primary(topology, account, `${i}`)?.slice(0, 2)),
      );
    expect(racks({ id: 'old' })).toEqual(new Set(['r0', 'r1']));
    expect(racks({ id: 'new', createdUnder: '2026' })).toEqual(new Set(['r0', 'r1', 'r2']));
  });

  test('eventually all the accounts will see a weight of 1', () => {
    for (const account of accounts) {
      expect(seenExpansions(growing(1, 1), account)).toEqual(['2026', '2027']);
    }
  });

  test('the rebalancing is gradual: a rollout of x reaches about x of the old accounts', () => {
    for (const rollout of [0.1, 0.5, 0.8]) {
      const reached = accounts.filter(
        (account) => seenExpansions(growing(rollout), account).length > 0,
      );
      expect(reached.length / accounts.length).toBeCloseTo(rollout, 0.8);
    }
  });
});

test('raising a rollout is monotone: an account that sees an expansion keeps seeing it', () => {
  const unit = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.string(), unit, unit, (id, a, b) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)];
      const before = seenExpansions(growing(low), { id });
      expect(seenExpansions(growing(high), { id })).toEqual(expect.arrayContaining(before));
    }),
    { numRuns: 300 },
  );
});

test('each account switches once and no key moves twice, and only onto the new rack', () => {
  const steps = [0, 0.2, 0.4, 0.6, 0.8, 1];
  for (const account of accounts.slice(0, 40)) {
    for (let key = 0; key < 10; key++) {
      const places = steps.map((rollout) => primary(growing(rollout), account, `${key}`));
      const moves = places.filter((path, i) => i > 0 && path !== places[i - 1]);
      expect(moves.length).toBeLessThanOrEqual(1);
      for (const path of moves) expect(path?.startsWith('r2/')).toBe(true);
    }
  }
});

test('expansions reach accounts in different orders', () => {
  const early = accounts.filter(({ id }) => rolloutPoint(id, '2026') < 0.5);
  const both = early.filter(({ id }) => rolloutPoint(id, '2027') < 0.5);
  expect(both.length / early.length).toBeGreaterThan(0.35);
  expect(both.length / early.length).toBeLessThan(0.65);
});

test('an account created under an unknown expansion is refused', () => {
  expect(() => seenExpansions(growing(0), { id: 'a', createdUnder: '1999' })).toThrow(
    expect.objectContaining({ code: 'unknown_vertex' }),
  );
});

describe('an account is part of the question', () => {
  test('with a rollout below 1, a lookup without an account is refused and names the expansion', () => {
    const open = expect.objectContaining({ code: 'account_needed' });
    expect(() => place(growing(1, 0), 'key')).toThrow(open);
    expect(() => place(growing(1, 0), 'key')).toThrow(/"2027" \(0\)\. Name the account\./);
    expect(() => explain(growing(0.99, 1), 'key')).toThrow(open);
    expect(() => selectPool(growing(0), 'a/t/x', { width: {} })).toThrow(open);
    expect(place(growing(1, 1), 'key').replicas).toHaveLength(1);
  });

  test('a zone with rollout 0 gets no key of an old account, and its share of a new one', () => {
    const racks = (account: { id: string; createdUnder?: string }) =>
      new Set(
        Array.from({ length: 200 }, (_, i) =>
          place(growing(0), `${i}`, { account }).replicas[0]?.path.slice(0, 2),
        ),
      );
    expect(racks({ id: 'old' })).toEqual(new Set(['r0', 'r1']));
    expect(racks({ id: 'new', createdUnder: '2026' })).toEqual(new Set(['r0', 'r1', 'r2']));
  });

  test('place, explain and pools use the topology that topologyFor gives', () => {
    for (const account of accounts.slice(0, 50)) {
      const seen = topologyFor(growing(0.5, 0.5), account);
      expect(seen.expansions).toEqual([]);
      const asked = place(growing(0.5, 0.5), 'key', { replicas: 3, account });
      expect(asked).toEqual(place(seen, 'key', { replicas: 3 }));
      expect(explain(growing(0.5, 0.5), 'key', { replicas: 3, account }).replicas).toEqual(
        asked.replicas.map(({ path }) => path),
      );
      const shape = { width: { rack: 2, disk: 2 } };
      expect(selectPool(growing(0.5, 0.5), 'a/t/x', { ...shape, account }).slots()).toEqual(
        selectPool(seen, 'a/t/x', shape).slots(),
      );
    }
  });

  test('a misspelt field of an account or a pool is refused', () => {
    const account = { id: 'a', createdUndr: '2026' };
    expect(() => seenExpansions(growing(0), account)).toThrow(/Did you mean "createdUnder"\?/);
    const shape = { partition: 16, replicas: 6 };
    expect(() => selectPool(growing(1, 1), 'a/t/x', shape)).toThrow(/Did you mean "partitions"\?/);
  });
});
