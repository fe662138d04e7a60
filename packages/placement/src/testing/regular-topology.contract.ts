/** Regular topologies for tests: so many children at each level, ids made of the level's first letter and a number. */
import { type Hash, murmur3 } from '../flat/hash.ts';
import { buildTopology, type Topology, type TopologySpec, type VertexSpec } from '../topology.ts';

/** `{ rack: 2, node: 4, disk: 8 }` → racks r0, r1 with nodes n0 … n3 with disks d0 … d7. */
export function regularSpec(counts: Readonly<Record<string, number>>): TopologySpec {
  const levels = Object.keys(counts);
  const below = (depth: number): VertexSpec[] =>
    Array.from({ length: counts[levels[depth] as string] as number }, (_, i) => ({
      id: `${levels[depth]?.[0]}${i}`,
      ...(depth + 1 < levels.length ? { children: below(depth + 1) } : {}),
    }));
  return { levels, children: below(0) };
}

export function regular(
  counts: Readonly<Record<string, number>>,
  more: Partial<TopologySpec> = {},
  hash: Hash | null = null,
): Topology {
  return buildTopology({ ...regularSpec(counts), ...more }, hash);
}

/** The real hash, counting the numbers it is asked about. */
export function countingHash(): Hash & { count: number } {
  return {
    count: 0,
    number(hi, lo, seed) {
      this.count++;
      return murmur3.number(hi, lo, seed);
    },
    text: (text, seed) => murmur3.text(text, seed),
  };
}

/** 2 regions × 2 zones × 32 nodes × 16 disks × 8 namespaces × 128 queues, as in the seed. */
export function keyAddressing(hash: Hash | null = null): Topology {
  const slots = [
    { name: 'namespace', count: 8 },
    { name: 'queue', count: 128 },
  ];
  return regular({ region: 2, zone: 2, node: 32, disk: 16 }, { slots }, hash);
}
