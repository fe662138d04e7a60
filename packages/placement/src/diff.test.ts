import { describe, expect, test } from 'vitest';
import { changeVertices } from './change.ts';
import { diff } from './diff.ts';
import { explain } from './explain.ts';
import { compileTopology } from './place.ts';
import { compileTargets } from './flat/rendezvous.ts';
import { regular } from './testing/regular-topology.contract.ts';

describe('diff', () => {
  test('nothing changed: nothing moves', () => {
    const targets = compileTargets(['a', 'b', 'c']);
    expect(diff(targets, targets, { keys: 1000, replicas: 2 })).toMatchObject({
      keys: 1000,
      copies: 2000,
      moved: 0,
      minimum: 0,
      primariesMoved: 0,
      flows: [],
      domains: [],
    });
  });

  test('seed 000: from "A, B, C" to "A, B, C, D" 25 % of timers move, all from A, B and C onto D', () => {
    const before = compileTargets(['A', 'B', 'C']);
    const after = compileTargets(['A', 'B', 'C', 'D']);
    const change = diff(before, after, { keys: 40_000, replicas: 1 });
    expect(change.moved / change.keys).toBeCloseTo(0.25, 2);
    expect(change.moved).toBe(change.minimum);
    expect(change.betweenSurvivors).toBe(0);
    expect(change.flows.map(({ to }) => to)).toEqual(['D', 'D', 'D']);
    expect(change.flows.reduce((sum, { copies }) => sum + copies, 0)).toBe(change.moved);
    expect(change.domains.find(({ path }) => path === 'D')).toMatchObject({
      before: 0,
      left: 0,
      arrived: change.moved,
    });
  });

  test('a move inside a domain neither leaves nor enters it', () => {
    const topology = regular({ rack: 2, disk: 4 }, { quorum: { disk: 1 } });
    const after = changeVertices(topology, { 'r0/d0': { up: false } });
    const change = diff(compileTopology(topology), compileTopology(after), {
      keys: 5000,
      replicas: 1,
    });
    expect(change.moved).toBeGreaterThan(0);
    expect(change.domains.map(({ path }) => path)).toEqual(['r0/d0', 'r0/d1', 'r0/d2', 'r0/d3']);
  });

  test('a placement that moves keys between survivors is caught', () => {
    // Other roles place quite differently: an example of a bad scheme.
    const before = compileTargets(['a', 'b', 'c'], { roles: 'chronos' });
    const after = compileTargets(['a', 'b', 'c'], { roles: 'rank' });
    const change = diff(before, after, { keys: 3000, replicas: 1 });
    expect(change.betweenSurvivors).toBe(change.moved);
    expect(change.moved).toBeGreaterThan(change.minimum * 5);
  });

  test('given keys are used as they are; fewer copies are counted as lost', () => {
    const before = compileTargets(['a', 'b']);
    const after = compileTargets(['a']);
    const change = diff(before, after, { keys: ['x', 'y', 7n], replicas: 2 });
    expect(change).toMatchObject({ keys: 3, copies: 3, moved: 0, copiesLost: 3, copiesGained: 0 });
  });

  test('a sample that is no number of keys is refused', () => {
    const targets = compileTargets(['a']);
    for (const keys of [0, -1, 1.5, 1e9]) {
      expect(() => diff(targets, targets, { keys, replicas: 1 })).toThrow(/sample must be/);
    }
  });
});

describe('explain', () => {
  test('shows each step of the walk with candidates, scores and shares', () => {
    const topology = changeVertices(regular({ zone: 3, disk: 2 }), {
      z2: { weight: 0 },
      'z0/d1': { up: false },
    });
    const found = explain(topology, 42n, { replicas: 1 });
    expect(found.steps).toHaveLength(2);
    const [zones, disks] = found.steps;
    expect(zones).toMatchObject({ path: '', level: 'zone', replicas: 1 });
    expect(zones?.candidates.map(({ id }) => id).toSorted()).toEqual(['z0', 'z1']);
    expect(zones?.passedOver).toEqual([{ id: 'z2', reason: 'planned' }]);
    expect(zones?.candidates[0]?.share).toBe(1);
    expect(zones?.candidates[0]?.score).toBeGreaterThan(zones?.candidates[1]?.score as number);
    expect(disks?.path).toBe(zones?.candidates[0]?.path);
    expect(found.replicas).toEqual([disks?.candidates[0]?.path]);
  });

  test('says why a vertex was passed over', () => {
    const topology = changeVertices(regular({ zone: 2, disk: 2 }), { 'z0/d1': { up: false } });
    const found = explain(topology, 'key', { pin: { zone: 'z0' } });
    expect(found.steps[0]?.passedOver).toEqual([{ id: 'z1', reason: 'not z0' }]);
    expect(found.steps[1]?.passedOver).toEqual([{ id: 'd1', reason: 'dead' }]);
  });

  test('a topology without a live target explains to nothing', () => {
    const topology = changeVertices(regular({ zone: 1, disk: 1 }), { z0: { up: false } });
    expect(explain(topology, 'key')).toMatchObject({ replicas: [], steps: [] });
  });
});
