/** The packages that are installed with a package when it runs, as the lock file has them. */

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}

export interface Installed extends Locked {
  /** Where in the lock file: `node_modules/a`, or the folder of a workspace. */
  readonly key: string;
}

/** The package in this folder and everything it needs, each once. Throws when something is not locked. */
export function runtimeTree({ packages }: Lock, folder: string): Installed[] {
  const found = new Map<string, Installed>();
  const visit = (key: string): void => {
    if (found.has(key)) return;
    const locked = packages[key] ?? {};
    found.set(key, { ...locked, key });
    const optional = locked.optionalDependencies ?? {};
    for (const name of Object.keys({ ...locked.dependencies, ...optional })) {
      const at = nearest(packages, key, name);
      if (at !== null) visit(at);
      else if (!(name in optional)) throw new Error(`${key} needs ${name}, which is not locked.`);
    }
  };
  visit(folder);
  return [...found.values()];
}

/** As Node looks for it: in the package's own folder, then in each one above. */
function nearest(packages: Lock['packages'], from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const key = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    const locked = packages[key];
    if (locked !== undefined) return locked.link === true ? (locked.resolved ?? null) : key;
    if (folder === '') return null;
  }
}
