/** Lays packages out as they are published, each in a folder of its own, from `dist` as `tsc -b` has built it. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import {
  namedFiles,
  type Origin,
  type PackageManifest,
  publishedExports,
  publishedManifest,
  publishedReadme,
  publishedSource,
} from './published-form.ts';

const root = join(import.meta.dirname, '../..');
/** Each after the packages that it depends on. */
export const publishedFolders = ['core', 'placement', 'ring', 'server', 'client', 'cli'];
/** Folders that hold more than built sources, copied as they are. */
const carriedWhole = ['bin', 'vectors', 'dist/dashboard', 'dist/command'];

export interface Staged {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
}

/** `try`: to be installed from a folder alone; such packages are private, which npm refuses to publish. */
export type ArchiveUse = 'publish' | 'try';

/** The address of the repository, said once for all packages. */
export function origin(): Origin {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Origin;
}

export function stagePackages(target: string, use: ArchiveUse): Staged[] {
  return publishedFolders.map((name) => stage(`packages/${name}`, join(target, name), use));
}

function stage(folder: string, target: string, use: ArchiveUse): Staged {
  const home = join(root, folder);
  const manifest = JSON.parse(read(join(home, 'package.json'))) as PackageManifest;
  mkdirSync(target, { recursive: true });
  const published = {
    ...publishedManifest(manifest, { origin: origin(), folder }),
    ...(use === 'try' && { private: true }),
  };
  write(join(target, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  write(
    join(target, 'README.md'),
    publishedReadme(read(join(home, 'README.md')), folder, origin()),
  );
  write(join(target, 'LICENSE'), read(join(root, 'LICENSE')));
  for (const whole of carriedWhole) {
    if (existsSync(join(home, whole))) {
      cpSync(join(home, whole), join(target, whole), { recursive: true });
    }
  }
  for (const path of reachable(home, entriesOf(home, manifest))) {
    write(join(target, path), publishedSource(path, read(join(home, path))));
  }
  return { name: manifest.name, version: manifest.version, folder: target };
}

/** Built files that users can name, and the file that each command starts: the first that is there. */
function entriesOf(home: string, { exports, bin = {} }: PackageManifest): string[] {
  const exported = Object.values(publishedExports(exports)).flatMap((entry) =>
    Object.values(entry),
  );
  const started = Object.values(bin).flatMap((path) =>
    namedFiles(read(join(home, path)))
      .map((named) => posix.join(posix.dirname(path), named))
      .filter((named) => existsSync(join(home, named)))
      .slice(0, 1),
  );
  return [...exported, ...started].map((path) => posix.normalize(path));
}

/** Files that lead nowhere from the entries stay at home: doubles for the package's own tests, for example. */
function reachable(home: string, entries: readonly string[]): Set<string> {
  const found = new Set<string>();
  const open = [...entries];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    for (const named of namedFiles(publishedSource(path, read(join(home, path))))) {
      const built = posix.join(posix.dirname(path), named);
      const next = path.endsWith('.d.ts') ? built.replace(/\.js$/, '.d.ts') : built;
      if (existsSync(join(home, next))) open.push(next);
    }
  }
  return found;
}

function read(path: string): string {
  return readFileSync(path, 'utf8');
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
