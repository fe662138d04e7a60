/** The input of the rules between files: the packages, their manifests, and where an import leads. */
import { posix } from 'node:path';
import type { Source } from './source.ts';

/** One file for each condition. The first of them has the types. */
type Conditions = Readonly<Record<string, string>>;

export interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, { readonly source?: string | Conditions }>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

export interface Package {
  /** From the repository's root; empty for the root itself. */
  readonly folder: string;
  readonly manifest: Manifest;
}

export interface Workspace {
  readonly sources: readonly Source[];
  readonly packages: readonly Package[];
}

export function packageOf(path: string, { packages }: Workspace): Package | null {
  return packages.find(({ folder }) => folder !== '' && path.startsWith(`${folder}/`)) ?? null;
}

/** The file an import leads to, or null when it leaves the repository. */
export function resolve(from: string, request: string, { packages }: Workspace): string | null {
  if (request.startsWith('.')) return posix.join(posix.dirname(from), request);
  for (const { folder, manifest } of packages) {
    if (request !== manifest.name && !request.startsWith(`${manifest.name}/`)) continue;
    const subpath = `.${request.slice(manifest.name.length)}`;
    const [target] = filesOf(manifest.exports?.[subpath]?.source);
    return target === undefined ? null : posix.join(folder, target);
  }
  return null;
}

/** Files that start something or are given to the outside: no other file needs to import them. */
export function entries({ packages }: Workspace): Set<string> {
  const found = new Set<string>();
  for (const { folder, manifest } of packages) {
    for (const { source } of Object.values(manifest.exports ?? {})) {
      for (const file of filesOf(source)) found.add(posix.join(folder, file));
    }
    for (const built of Object.values(manifest.bin ?? {})) {
      found.add(posix.join(folder, built.replace(/dist\//, 'src/').replace(/\.js$/, '.ts')));
    }
    for (const command of Object.values(manifest.scripts ?? {})) {
      for (const [file] of command.matchAll(/[\w./-]+\.tsx?/g)) found.add(posix.join(folder, file));
    }
  }
  return found;
}

function filesOf(source: string | Conditions | undefined): readonly string[] {
  if (source === undefined) return [];
  return typeof source === 'string' ? [source] : Object.values(source);
}
