import { beforeAll, describe, expect, test } from 'vitest';
import { changeVertices } from './change.ts';
import { type Diff, diff } from './diff.ts';
import { health } from './health.ts';
import { compileTopology } from './place.ts';
import { regular } from './testing/regular-topology.contract.ts';
import type { Topology } from './topology.ts';

const keyCount = 64_000;
const down = (topology: Topology, ...paths: string[]) =>
  changeVertices(topology, Object.fromEntries(paths.map((path) => [path, { up: false }])));
const stateOf = (topology: Topology, path: string) => {
  for (const [vertex, { state }] of health(topology)) if (vertex.path === path) return state;
  return undefined;
};

/** Seed 003: "a group of 64 disks are attached to 8 nodes in 2 racks". */
const start = regular({ rack: 2, node: 4, disk: 8 }, { quorum: { disk: 2, node: 1, rack: 1 } });

function compare(before: Topology, after: Topology): Diff {
  return diff(compileTopology(before), compileTopology(after), { keys: keyCount, replicas: 1 });
}

/** The share of moved copies that stay below the same domain at some depth: 0 racks, 1 nodes. */
function inside(change: Diff, depth: number): number {
  const domain = (path: string) =>
    path
      .split('/')
      .slice(0, depth + 1)
      .join('/');
  const same = change.flows.filter(({ from, to }) => domain(from) === domain(to));
  return same.reduce((sum, { copies }) => sum + copies, 0) / change.moved;
}

describe('seed 003, failure example: 64 disks, 8 nodes, 2 racks; quorum 2 disks, 1 node, 1 rack', () => {
  const one = down(start, 'r0/n0/d0');
  const two = down(one, 'r0/n0/d1');
  const three = down(two, 'r0/n0/d2');
  const twoHollow = down(three, 'r0/n1/d0', 'r0/n1/d1', 'r0/n1/d2');
  const steps: Record<string, Diff> = {};

  beforeAll(() => {
    steps['1st'] = compare(start, one);
    steps['2nd'] = compare(one, two);
    steps['3rd'] = compare(two, three);
    steps['2nd node'] = compare(three, twoHollow);
  });

  test.each(['1st', '2nd'])(
    'if a disk fails, the node will rebalance the load across the remaining disks: %s disk, about 1/64 moves, all of it inside the node',
    (step) => {
      const change = steps[step] as Diff;
      expect(change.moved / keyCount).toBeCloseTo(1 / 64, 2);
      expect(inside(change, 1)).toBe(1);
    },
  );

  test('if more than quorum disks fail in a node, a rebalance across the other nodes in the same rack: 12.5 % move, all inside the rack', () => {
    const change = steps['3rd'] as Diff;
    expect(stateOf(two, 'r0/n0')).toBe('up');
    expect(stateOf(three, 'r0/n0')).toBe('hollow');
    expect(change.moved / keyCount).toBeCloseTo(0.125, 2);
    expect(inside(change, 0)).toBe(1);
    expect(inside(change, 1)).toBe(0);
  });

  test('the second hollow node makes the rack hollow: 50 % go to the other rack', () => {
    const change = steps['2nd node'] as Diff;
    expect(stateOf(three, 'r0')).toBe('up');
    expect(stateOf(twoHollow, 'r0')).toBe('hollow');
    expect(change.moved / keyCount).toBeCloseTo(0.5, 1);
    expect(inside(change, 0)).toBe(0);
  });

  test('all repaired: identical to the start', () => {
    const paths = ['r0/n0', 'r0/n1'].flatMap((machine) => [0, 1, 2].map((i) => `${machine}/d${i}`));
    const repaired = changeVertices(
      twoHollow,
      Object.fromEntries(paths.map((path) => [path, { up: true }])),
    );
    expect(compare(start, repaired).moved).toBe(0);
  });

  test.each(['1st', '2nd', '3rd', '2nd node'])(
    'failures are local: 0 keys move between survivors and nothing beyond the minimum: %s',
    (step) => {
      const change = steps[step] as Diff;
      expect(change.betweenSurvivors).toBe(0);
      expect(change.moved).toBe(change.minimum);
    },
  );
});

describe('health', () => {
  test('exactly quorum failures leave a domain up, one more makes it hollow', () => {
    const topology = regular({ node: 2, disk: 5 }, { quorum: { disk: 3 } });
    const three = down(topology, 'n0/d0', 'n0/d1', 'n0/d2');
    expect(stateOf(three, 'n0')).toBe('up');
    expect(stateOf(down(three, 'n0/d3'), 'n0')).toBe('hollow');
  });

  test('a domain without a live target is dead, one without an up child is hollow', () => {
    const topology = regular({ rack: 2, node: 1, disk: 2 }, { quorum: { disk: 0 } });
    const lost = down(topology, 'r0/n0/d0');
    expect(stateOf(lost, 'r0/n0')).toBe('hollow');
    expect(stateOf(lost, 'r0')).toBe('hollow');
    const dead = down(lost, 'r0/n0/d1');
    expect(stateOf(dead, 'r0/n0')).toBe('dead');
    expect(stateOf(dead, 'r0')).toBe('dead');
  });

  test('planned children neither fail nor count', () => {
    const topology = changeVertices(regular({ node: 2, disk: 4 }, { quorum: { disk: 1 } }), {
      'n0/d0': { weight: 0, up: false },
      'n0/d1': { up: false },
    });
    expect(stateOf(topology, 'n0/d0')).toBe('planned');
    expect(stateOf(topology, 'n0')).toBe('up');
  });

  test('a domain marked down takes everything below it down', () => {
    const topology = down(regular({ rack: 2, disk: 3 }), 'r1');
    expect(stateOf(topology, 'r1/d2')).toBe('dead');
    expect(stateOf(topology, 'r1')).toBe('dead');
  });

  test('hollow domains are used only for copies that the up ones cannot hold', () => {
    const topology = down(regular({ rack: 2, disk: 3 }, { quorum: { disk: 0 } }), 'r0/d0');
    const picks = new Int32Array(5);
    const compiled = compileTopology(topology);
    for (let lo = 0; lo < 200; lo++) {
      for (const [replicas, hollow] of [
        [1, 0],
        [3, 0],
        [4, 1],
        [5, 2],
      ] as const) {
        const size = compiled.pick(0, lo, replicas, picks);
        const paths = Array.from(picks.subarray(0, size), (i) => compiled.names[i] as string);
        expect(paths.filter((path) => path.startsWith('r0/'))).toHaveLength(hollow);
        expect(paths[0]?.startsWith('r1/')).toBe(true);
      }
    }
  });
});
