/** Regular trees: so many children at each level. */
import { record, wholeNumber } from './input.ts';
import {
  buildTopology,
  type Topology,
  type TopologySpec,
  type VertexSpec,
  verticesMax,
} from './topology.ts';

/** `{ rack: 2, disk: 8 }` → racks r0 and r1 with disks d0 … d7: ids are the level's first letter and a number. */
export function tree(
  counts: Readonly<Record<string, number>>,
  more: Partial<Omit<TopologySpec, 'levels' | 'children'>> = {},
): Topology {
  return buildTopology({ ...more, ...treeSpec(counts) });
}

/** The plain form of a regular tree. */
export function treeSpec(counts: Readonly<Record<string, number>>): TopologySpec {
  const levels = Object.keys(record(counts, 'The counts of a tree'));
  for (const level of levels) {
    wholeNumber(counts[level], `The count of "${level}"`, { min: 1, max: verticesMax });
  }
  const below = (depth: number): VertexSpec[] =>
    Array.from({ length: counts[levels[depth] as string] ?? 0 }, (_, i) => ({
      id: `${levels[depth]?.[0]}${i}`,
      ...(depth + 1 < levels.length ? { children: below(depth + 1) } : {}),
    }));
  return { levels, children: below(0) };
}
