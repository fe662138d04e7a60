import { describe, expect, test } from 'vitest';
import { folderSize, roomArrows, rooms, rootOfServer, twoWayFolders } from './rooms.ts';
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
    ['packages/server/src/wiring/a.ts', '../member.ts'],
    ['packages/server/src/start/a.ts', '../internal.ts'],
  ])('%s must not import %s', (path, from) => {
    expect(importing(path, from)).toEqual([expect.stringContaining('against the arrows')]);
  });

  test.each([
    ['packages/server/src/replication/a.ts', '../timer/merge.ts'],
    ['packages/server/src/replication/a.ts', './peers.ts'],
    ['packages/server/src/api/a.test.ts', '../store/store.ts'],
    ['packages/server/src/member.ts', './store/store.ts'],
    ['packages/server/src/start/a.ts', '../member.ts'],
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

  test('every arrow leads to a room or to the member', () => {
    const unknown = Object.values(rooms)
      .flat()
      .filter((room) => rooms[room] === undefined && room !== 'member.ts');
    expect(unknown).toEqual([]);
  });
});

test('the root of the server holds its doors, the member and tests', () => {
  const files = { 'packages/server/src/member.ts': '', 'packages/server/src/a.test.ts': '' };
  expect(rootOfServer(workspace(files))).toEqual([]);
  expect(rootOfServer(workspace({ ...files, 'packages/server/src/loose.ts': '' }))).toEqual([
    expect.objectContaining({ path: 'packages/server/src/loose.ts' }),
  ]);
});

test('two folders of a package do not import each other; the root of the package may', () => {
  const there = { 'packages/sim/src/a/a.ts': "import { b } from '../b/b.ts';" };
  const back = { 'packages/sim/src/b/b.ts': "import type { a } from '../a/a.ts';" };
  const top = { 'packages/sim/src/c.ts': "import { a } from './a/a.ts';" };
  const up = { 'packages/sim/src/a/a.ts': "import { c } from '../c.ts';" };
  expect(twoWayFolders(workspace({ ...there, 'packages/sim/src/b/b.ts': '' }))).toEqual([]);
  expect(twoWayFolders(workspace({ ...top, ...up }))).toEqual([]);
  expect(twoWayFolders(workspace({ ...there, ...back }))).toHaveLength(2);
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
