import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderSize, roomArrows, rooms } from './rooms.ts';
import { parse } from './source.ts';
import type { Workspace } from './workspace.ts';

function workspace(files: Readonly<Record<string, string>>): Workspace {
  const sources = Object.entries(files).map(([path, text]) => parse(path, text));
  return { sources, packages: [] };
}

const importing = (path: string, from: string): string[] =>
  roomArrows(workspace({ [path]: `import { a } from '${from}';` })).map(({ says }) => says);

describe('rooms of the server', () => {
  test.each([
    ['packages/server/src/api/a.ts', '../store/store.ts'],
    ['packages/server/src/store/a.ts', '../timer/merge.ts'],
    ['packages/server/src/timer/a.ts', '../replication/peers.ts'],
    ['packages/server/src/replication/a.ts', '../cluster/cluster.ts'],
  ])('%s must not import %s', (path, from) => {
    expect(importing(path, from)).toEqual([expect.stringContaining('against the arrows')]);
  });

  test.each([
    ['packages/server/src/replication/a.ts', '../timer/merge.ts'],
    ['packages/server/src/replication/a.ts', './peers.ts'],
    ['packages/server/src/api/a.test.ts', '../store/store.ts'],
    ['packages/server/src/member.ts', './store/store.ts'],
    ['packages/ring/src/a.ts', './b.ts'],
  ])('%s may import %s', (path, from) => {
    expect(importing(path, from)).toEqual([]);
  });

  test('no two rooms know each other', () => {
    const both = Object.entries(rooms).flatMap(([room, known]) =>
      known.filter((other) => rooms[other]?.includes(room)).map((other) => `${room} ${other}`),
    );
    expect(both).toEqual([]);
  });

  test('every arrow leads to a room', () => {
    const unknown = Object.values(rooms)
      .flat()
      .filter((room) => rooms[room] === undefined);
    expect(unknown).toEqual([]);
  });
});

test('a folder holds at most 20 source files, tests not counted', () => {
  const files = (count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`packages/x/src/f${i}.ts`, '']));
  expect(folderSize(workspace({ ...files(20), 'packages/x/src/f.test.ts': '' }))).toEqual([]);
  expect(folderSize(workspace(files(21)))).toEqual([
    expect.objectContaining({
      path: 'packages/x/src',
      says: expect.stringContaining('21 source files'),
    }),
  ]);
});

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');

test('ARCHITECTURE.md lists every room with its number of source files', () => {
  const told = [...page.matchAll(/^\| `(\S+)\/` \| .* \| (\d+) \| [^|]* \|$/gm)];
  const counted = Object.keys(rooms).map((room) => {
    const names = readdirSync(join(root, 'packages/server/src', room));
    return [room, names.filter((name) => /^[^.]+\.ts$/.test(name)).length];
  });
  expect(Object.fromEntries(told.map(([, room, count]) => [room, Number(count)]))).toEqual(
    Object.fromEntries(counted),
  );
});

test('ARCHITECTURE.md draws these arrows and no others', () => {
  const drawn = [...page.matchAll(/^ {2}\w+\[(\S+)\] --> \w+\[(\S+)\]$/gm)].map(
    ([, from, to]) => `${from} → ${to}`,
  );
  const held = Object.entries(rooms).flatMap(([from, known]) =>
    known.map((to) => `${from} → ${to}`),
  );
  expect(drawn.toSorted()).toEqual(held.toSorted());
});
