/**
 * A regular tree in a topology's plain form: `tree: { region: 2, zone: 8, node: 32, disk: 16 }` stands for the levels
 * and 8,192 disks, `vertices: { 'r0/z2': { weight: 0 } }` for the few vertices that differ.
 */
import { PlacementError } from './errors.ts';
import { record, refuseUnknownFields, wholeNumber } from './input.ts';

export const verticesMax = 1_000_000;
const overrideFields = ['weight', 'up', 'expansion'] as const;

type Plain = Record<string, unknown>;

interface RegularVertex {
  readonly id: string;
  readonly children?: readonly RegularVertex[];
}

/** Levels and children in the place of `tree` and `vertices`; other forms as they are. */
export function withoutTree(input: Plain): Plain {
  const { tree: counts, vertices, ...rest } = input;
  if (counts === undefined) {
    if (vertices === undefined) return input;
    throw badTree('"vertices" goes with "tree"; where children are listed, say it there.');
  }
  if (rest['levels'] !== undefined || rest['children'] !== undefined) {
    throw badTree('A topology has either "tree" or "levels" and "children".');
  }
  const { levels, children } = treeSpec(counts);
  override(children, record(vertices ?? {}, '"vertices"'));
  return { ...rest, levels, children };
}

function badTree(says: string): PlacementError {
  return new PlacementError('bad_input', says);
}

/** The plain form of a regular tree. */
export function treeSpec(given: unknown): { levels: string[]; children: RegularVertex[] } {
  const counts = record(given, 'The counts of a tree');
  const levels = Object.keys(counts);
  let size = 1;
  for (const level of levels) {
    size *= wholeNumber(counts[level], `The count of "${level}"`, { min: 1, max: verticesMax });
    if (size <= verticesMax) continue;
    throw new PlacementError('too_large', `A topology may have at most ${verticesMax} vertices.`);
  }
  const below = (depth: number): RegularVertex[] =>
    Array.from(
      { length: (counts[levels[depth] as string] as number | undefined) ?? 0 },
      (_, i) => ({
        id: `${levels[depth]?.[0]}${i}`,
        ...(depth + 1 < levels.length ? { children: below(depth + 1) } : {}),
      }),
    );
  return { levels, children: below(0) };
}

function override(children: readonly RegularVertex[], overrides: Plain): void {
  for (const [path, given] of Object.entries(overrides)) {
    const vertex = find(children, path.split('/'));
    if (vertex === undefined) {
      throw new PlacementError(
        'unknown_vertex',
        `"vertices" names "${path}", which is not in the tree.`,
        path,
      );
    }
    const change = record(given, `"vertices" at "${path}"`, path);
    refuseUnknownFields(change, overrideFields, { what: `"vertices" at "${path}"`, path });
    Object.assign(vertex, change);
  }
}

function find(
  children: readonly RegularVertex[],
  [id, ...rest]: readonly string[],
): RegularVertex | undefined {
  const vertex = children.find((child) => child.id === id);
  return rest.length === 0 ? vertex : find(vertex?.children ?? [], rest);
}
