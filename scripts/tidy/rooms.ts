/**
 * The rooms of the server: which folder may import which, in full. An arrow that is not listed is refused, and so is a
 * list with two rooms that know each other. Tests may look around. In the root of the server are its doors and the
 * member, and nothing else. In no package do two folders know each other, and no folder of the repository holds too
 * many files.
 */
import { posix } from 'node:path';
import { type Finding, isTest } from './source.ts';
import { resolve, type Workspace } from './workspace.ts';

/**
 * ARCHITECTURE.md draws the same picture. `index.ts`, `internal.ts` and `member.ts` in the root may import every room.
 */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  access: ['config', 'http', 'quotas'],
  api: ['access', 'api/schema', 'callback', 'config', 'http', 'metrics', 'request', 'timer'],
  'api/openapi': ['api', 'api/schema', 'history'],
  'api/routes': [
    'access',
    'api',
    'api/openapi',
    'api/schema',
    'config',
    'doctor',
    'history',
    'http',
    'metrics',
    'request',
  ],
  'api/schema': ['access'],
  callback: ['callback/answers', 'callback/guard', 'timer'],
  'callback/answers': ['http'],
  'callback/guard': [],
  cluster: [
    'cluster/disk',
    'cluster/view',
    'history',
    'metrics',
    'pop',
    'pop/outcome',
    'replication',
    'replication/lists',
    'replication/wire',
    'timer',
  ],
  'cluster/disk': ['metrics', 'store/journal', 'store/journal/files'],
  'cluster/sources': ['cluster/view', 'config'],
  'cluster/view': [],
  config: ['config/options'],
  'config/options': ['callback', 'callback/guard'],
  doctor: ['config', 'metrics'],
  events: ['callback', 'config', 'config/options', 'metrics', 'pop/failures', 'quotas', 'timer'],
  history: ['store/journal', 'store/journal/files'],
  http: ['config', 'http/room', 'metrics'],
  'http/room': ['access'],
  metrics: ['network'],
  network: [],
  pop: [
    'callback',
    'history',
    'metrics',
    'pop/claims',
    'pop/failures',
    'pop/outcome',
    'pop/sending',
    'replication',
    'replication/wire',
    'store',
    'telemetry',
    'timer',
  ],
  'pop/claims': ['replication/wire', 'timer'],
  'pop/failures': [],
  'pop/outcome': ['callback', 'pop/failures', 'replication/wire', 'timer'],
  'pop/places': [],
  'pop/sending': ['callback', 'pop/places', 'timer'],
  quotas: ['config'],
  replication: ['quotas', 'replication/wire', 'store', 'store/journal', 'timer'],
  'replication/lists': ['replication', 'replication/wire', 'store', 'store/search', 'timer'],
  'replication/wire': ['history', 'metrics', 'timer'],
  request: [
    'cluster/sources',
    'cluster/view',
    'config',
    'history',
    'metrics',
    'pop/outcome',
    'replication',
    'replication/lists',
    'replication/wire',
    'telemetry',
    'timer',
  ],
  start: [
    'access',
    'api/routes',
    'callback',
    'callback/guard',
    'cluster/sources',
    'cluster/view',
    'config',
    'http',
    'member.ts',
    'metrics',
    'network',
    'quotas',
    'request',
    'telemetry',
  ],
  store: ['store/search'],
  'store/journal': ['store/journal/files'],
  'store/journal/files': [],
  'store/search': [],
  telemetry: ['callback', 'metrics', 'timer'],
  timer: [],
  wiring: [
    'access',
    'api',
    'api/routes',
    'callback',
    'cluster',
    'cluster/disk',
    'cluster/sources',
    'config',
    'doctor',
    'events',
    'history',
    'metrics',
    'pop',
    'pop/outcome',
    'pop/sending',
    'quotas',
    'replication',
    'request',
    'store',
    'store/journal',
    'telemetry',
    'timer',
  ],
};

const root = 'packages/server/src/';
const rootFiles = ['index.ts', 'internal.ts', 'member.ts'];
const fileCountMax = 20;

export function roomArrows(workspace: Workspace): Finding[] {
  return workspace.sources.flatMap((source) => {
    const home = roomOf(source.path);
    if (home === null || rootFiles.includes(home) || isTest(source.path)) return [];
    return source.imports.flatMap(({ from, line }) => {
      const target = resolve(source.path, from, workspace);
      const room = target === null ? null : roomOf(target);
      if (room === null || room === home || rooms[home]?.includes(room) === true) return [];
      const allowed = rooms[home]?.join(', ') || 'no other room';
      const says = `${home}/ imports ${room}/ against the arrows: it may import ${allowed}; declare the need here, and let wiring/ connect the two`;
      return [{ path: source.path, line, says }];
    });
  });
}

/** A file of the root is a room of its own. null: outside the server, or a test double. */
function roomOf(path: string): string | null {
  if (!path.startsWith(root) || path.includes('/testing/')) return null;
  const inside = path.slice(root.length);
  const folder = posix.dirname(inside);
  return folder === '.' ? inside : folder;
}

export function rootOfServer({ sources }: Workspace): Finding[] {
  const loose = sources.filter(
    ({ path }) =>
      posix.dirname(path) === root.slice(0, -1) &&
      !isTest(path) &&
      !rootFiles.includes(posix.basename(path)),
  );
  const says = `the root of the server holds ${rootFiles.join(', ')} and tests: give the file a room`;
  return loose.map(({ path }) => ({ path, line: 1, says }));
}

/** The root of a package connects its folders, and may know them both ways. */
export function twoWayFolders(workspace: Workspace): Finding[] {
  const arrows = new Map<string, Finding>();
  for (const source of workspace.sources) {
    const home = folderOf(source.path);
    if (home === null || isTest(source.path)) continue;
    for (const { from, line } of source.imports) {
      const target = resolve(source.path, from, workspace);
      const other = target === null ? null : folderOf(target);
      if (other === null || other === home) continue;
      const says = `${home}/ and ${other}/ import each other: move the part that both need into one of them`;
      arrows.set(`${home} ${other}`, { path: source.path, line, says });
    }
  }
  return [...arrows].flatMap(([arrow, finding]) =>
    arrows.has(arrow.split(' ').toReversed().join(' ')) ? [finding] : [],
  );
}

/** A folder below the `src` of a package; null for others, and for test doubles. */
function folderOf(path: string): string | null {
  const isBelow = /^packages\/[^/]+\/src\/[^/]+\//.test(path);
  return isBelow && !path.includes('/testing/') ? posix.dirname(path) : null;
}

export function folderSize({ sources }: Workspace): Finding[] {
  const counts = new Map<string, number>();
  for (const { path } of sources) {
    if (isTest(path)) continue;
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > fileCountMax)
    .map(([folder, count]) => ({
      path: folder,
      line: 1,
      says: `the folder has ${count} source files; ${fileCountMax} is the limit: give a part of them a room of their own`,
    }));
}
