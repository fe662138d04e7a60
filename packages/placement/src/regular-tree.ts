/** Regular trees: so many children at each level. */
import { buildTopology, type Topology, type TopologySpec } from './topology.ts';

/** `{ rack: 2, disk: 8 }` → racks r0 and r1 with disks d0 … d7: ids are the level's first letter and a number. */
export function tree(
  counts: Readonly<Record<string, number>>,
  more: Partial<Omit<TopologySpec, 'tree' | 'levels' | 'children'>> = {},
): Topology {
  return buildTopology({ ...more, tree: counts });
}
