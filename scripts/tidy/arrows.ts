/**
 * Which package may import which. Dependencies between packages point one way, the pure packages stay free of the
 * platform, and each imported package stands in the importer's own manifest.
 */
import { type Finding, type Import, isTest, type Source } from './source.ts';
import { packageOf, resolve, type Package, type Workspace } from './workspace.ts';

/** Package folder → folders it may import. ARCHITECTURE.md draws the same picture. */
const arrows: Readonly<Record<string, readonly string[]>> = {
  core: [],
  placement: [],
  ring: ['core', 'placement'],
  server: ['core', 'placement', 'ring'],
  client: ['core'],
  dashboard: ['core', 'placement'],
  cli: ['core', 'placement', 'ring', 'server', 'client'],
  sim: ['core', 'placement', 'ring', 'server', 'client'],
};
/** Tests of these packages need more than their package does. */
const testArrows: Readonly<Record<string, readonly string[]>> = { client: ['server'] };

/** Run anywhere, not only on Node: no `node:` module, no dependency. */
const platformFree: readonly RegExp[] = [
  /^packages\/core\/src\/(?!system\/|testing\/)/,
  /^packages\/placement\/src\//,
  /^packages\/client\/src\/(?!node\/)/,
];

export function packageArrows(workspace: Workspace): Finding[] {
  return workspace.sources.flatMap((source) =>
    source.imports.flatMap((edge) => {
      const says = wrongWay(source, edge, workspace);
      return says === null ? [] : [{ path: source.path, line: edge.line, says }];
    }),
  );
}

function wrongWay(source: Source, { from }: Import, workspace: Workspace): string | null {
  const home = folderName(source.path);
  if (home === null) return null;
  const owner = packageOf(source.path, workspace);
  const target = resolve(source.path, from, workspace);
  if (target === null) return outsideImport(source, from, owner);
  const destination = folderName(target);
  if (destination === home) return null;
  if (isTest(source.path) && target.startsWith('scripts/')) return null;
  // Contract suites are not built, so a test of another package can only take them by path.
  const isSuite = isTest(source.path) && isTest(target);
  if (from.startsWith('.') && !isSuite)
    return `${from} leaves the package: import the package by its name instead`;
  const allowed = arrows[home] ?? [];
  const also = isTest(source.path) ? (testArrows[home] ?? []) : [];
  if (destination !== null && (allowed.includes(destination) || also.includes(destination)))
    return null;
  return `${home} imports ${from} against the arrows: it may import ${list(allowed)} only`;
}

/** `node:` modules and packages from elsewhere. Tests may use both, so may the tools of the workspace. */
function outsideImport(source: Source, from: string, owner: Package | null): string | null {
  if (isTest(source.path)) return null;
  if (platformFree.some((place) => place.test(source.path))) {
    return `${from} is imported by a package that runs anywhere: take it through a port, or move this to a system file`;
  }
  if (from.startsWith('node:') || owner === null) return null;
  const name = from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/');
  const { dependencies, devDependencies } = owner.manifest;
  if (dependencies?.[name] !== undefined || devDependencies?.[name] !== undefined) return null;
  return `${name} is not a dependency in ${owner.folder}/package.json: declare it there, with a decision record`;
}

function folderName(path: string): string | null {
  return /^packages\/([^/]+)\//.exec(path)?.[1] ?? null;
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'itself' : names.join(', ');
}
