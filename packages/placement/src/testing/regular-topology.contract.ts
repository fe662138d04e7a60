/** Regular topologies for tests, with a hash of their own if wanted. */
import { type Hash, murmur3 } from '../flat/hash.ts';
import { treeSpec } from '../tree-spec.ts';
import { buildTopology, type Topology, type TopologySpec } from '../topology.ts';

export function regular(
  counts: Readonly<Record<string, number>>,
  more: Partial<TopologySpec> = {},
  hash: Hash | null = null,
): Topology {
  return buildTopology({ ...treeSpec(counts), ...more }, hash);
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
