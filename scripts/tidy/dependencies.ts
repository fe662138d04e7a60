/**
 * Few dependencies, each pinned and known by its hash, from the public registry, and none that runs code when it is
 * installed.
 */
import type { Finding } from './source.ts';
import type { Package } from './workspace.ts';

export interface LockFile {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly resolved?: string;
        readonly integrity?: string;
        readonly link?: boolean;
        readonly dev?: boolean;
        readonly hasInstallScript?: boolean;
        readonly optionalDependencies?: Readonly<Record<string, string>>;
      }
    >
  >;
}

const registry = 'https://registry.npmjs.org/';
const withoutDependencies = new Set(['packages/core', 'packages/placement', 'packages/client']);

export function lockFile(lock: LockFile): Finding[] {
  const findings: Finding[] = [];
  for (const [key, entry] of Object.entries(lock.packages)) {
    const found = (says: string): number =>
      findings.push({ path: 'package-lock.json', line: 1, says: `${key} ${says}` });
    const { resolved, integrity = '', link, dev, hasInstallScript } = entry;
    const isForeign = key.includes('node_modules/') && link !== true;
    if (isForeign && !integrity.startsWith('sha512-')) {
      found('has no sha512 hash: any archive that the registry sends would be installed');
    }
    if (link !== true && resolved !== undefined && !resolved.startsWith(registry)) {
      found(`comes from ${resolved}: only ${registry} may be named`);
    }
    const isRuntime = dev !== true && isForeign;
    if (isRuntime && hasInstallScript === true) {
      found('is needed at run time and runs a script when installed: choose another package');
    }
    for (const name of Object.keys(entry.optionalDependencies ?? {})) {
      if (isLocked(lock, key, name)) continue;
      found(
        `may need ${name}, which is not locked: npm ci will refuse; choose a version that has it`,
      );
    }
  }
  return findings;
}

/** A package finds `name` in its own node_modules or in the root's; nothing here is nested deeper. */
function isLocked({ packages }: LockFile, key: string, name: string): boolean {
  return `${key}/node_modules/${name}` in packages || `node_modules/${name}` in packages;
}

export function manifests(packages: readonly Package[]): Finding[] {
  return packages.flatMap(({ folder, manifest }) => {
    const path = folder === '' ? 'package.json' : `${folder}/package.json`;
    const runtime = Object.entries(manifest.dependencies ?? {});
    const all = [...runtime, ...Object.entries(manifest.devDependencies ?? {})];
    const loose = all
      .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      .map(([name, version]) => `${name} is given as ${version}: pin one exact version`);
    const foreign = runtime
      .filter(([name]) => withoutDependencies.has(folder) && !name.startsWith('@carillon/'))
      .map(([name]) => `${name} is a run-time dependency: this package has none`);
    return [...loose, ...foreign].map((says) => ({ path, line: 1, says }));
  });
}
