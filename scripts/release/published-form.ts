/**
 * The form in which packages are published: texts in, texts out. In the clone a package runs from `src` (condition
 * `source`), its README links into the repository and its maps lead to `src`; a published package has none of these.
 */
import { posix } from 'node:path';

export interface PackageManifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, PackageEntry>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
}

/** Conditions in the order in which they are tried, each with its file; `source` may have conditions of its own. */
export type PackageEntry = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** Fields of the root manifest that hold for all packages. */
export interface Origin {
  readonly repository: { readonly type: string; readonly url: string };
  readonly homepage: string;
}

/** `folder`: of the package, from the root of the repository. */
export function publishedManifest(
  manifest: PackageManifest,
  { origin, folder }: { readonly origin: Origin; readonly folder: string },
): object {
  const { private: _, scripts: __, ...rest } = manifest;
  return {
    ...rest,
    homepage: `${origin.homepage}/blob/main/${folder}#readme`,
    repository: { ...origin.repository, directory: folder },
    files: [...manifest.files, 'LICENSE'],
    exports: publishedExports(manifest.exports),
  };
}

/** Every condition but `source`, in the same order. Entries that have no built file are for the clone alone. */
export function publishedExports(
  exports: PackageManifest['exports'],
): Record<string, Record<string, string>> {
  return Object.fromEntries(
    Object.entries(exports).flatMap(([entry, conditions]) => {
      const built = Object.entries(conditions).filter(([condition]) => condition !== 'source');
      const published = Object.fromEntries(built) as Record<string, string>;
      return 'types' in published && 'default' in published ? [[entry, published]] : [];
    }),
  );
}

/** Links of a README into the repository, as links to the repository's address. */
export function publishedReadme(text: string, folder: string, { homepage }: Origin): string {
  return text.replaceAll(/\]\((?![a-z]+:|#)([^)\s]+)\)/g, (_, target: string) => {
    const path = posix.normalize(posix.join(folder, target));
    return `](${homepage}/blob/main/${path})`;
  });
}

/** A built file without the line that names its map; declarations name the files beside them as they are published. */
export function publishedSource(path: string, text: string): string {
  const bare = text.replace(/^\/\/# sourceMappingURL=.*\n?/m, '');
  if (!path.endsWith('.d.ts')) return bare;
  return bare.replaceAll(/(['"])(\.\.?\/[^'"]*)\.ts\1/g, '$1$2.js$1');
}

/** Paths that a built file names, relative to it: imports, and files that are started by their address. */
export function namedFiles(text: string): string[] {
  return [...text.matchAll(/['"](\.\.?\/[^'"]+\.js)['"]/g)].map(([, path = '']) => path);
}
