/**
 * The command as a few files: loading its modules one by one takes three quarters of the processor time of a start.
 * Published, that is the form in which it is installed; in the clone it serves tests and measurements, which start it
 * some two hundred times.
 */
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, posix, relative, sep } from 'node:path';
import { build, type Plugin } from 'vite';

const root = join(import.meta.dirname, '../..');
const conditions = ['source', 'node', 'import', 'default'];

/** `clone`: files behave as the sources do, at the places of the sources. `installed`: wherever npm puts them. */
export type CommandForm = 'clone' | 'installed';

/**
 * In a process of its own: building sets NODE_ENV, which npm and the tests would inherit. `home`: the folder that has
 * `packages`, below the root. Returns the file to run.
 */
export function bundleCommand(folder: string, form: CommandForm, home = root): string {
  execFileSync(process.execPath, [import.meta.filename, folder, form, home], { stdio: 'inherit' });
  return join(folder, 'main.js');
}

/** Sources find their neighbours by their own path. */
function ownPaths(form: CommandForm, packages: string): Plugin {
  const pathOf =
    form === 'clone'
      ? (id: string) => JSON.stringify(id)
      : (id: string) => installedPath(relative(packages, id));
  return {
    name: 'own-paths',
    enforce: 'pre',
    async load(id) {
      if (!id.startsWith(packages) || !id.endsWith('.ts')) return null;
      const code = await readFile(id, 'utf8');
      const placed = code
        .replaceAll('import.meta.filename', () => pathOf(id))
        .replaceAll('import.meta.dirname', () => pathOf(join(id, '..')));
      if (placed === code || form === 'clone') return placed;
      return `import { fileURLToPath as ownPath } from 'node:url'; ${placed}`;
    },
  };
}

/**
 * An expression for the place that a file or folder of the sources has in an installed package: beside this bundle for
 * the command itself, in its own package for any other, because such a package carries files, such as the dashboard.
 */
function installedPath(source: string): string {
  const [name = '', , ...inside] = source.split(sep);
  const base = name === 'cli' ? 'import.meta.url' : `import.meta.resolve('@carillon/${name}')`;
  const path = posix.join(...inside).replace(/\.ts$/, '.js');
  return `ownPath(new URL('./${path}', ${base}))`;
}

/** Writes the files into a folder of its own, all beside each other. */
async function write(folder: string, form: CommandForm, home: string): Promise<void> {
  const packages = join(home, 'packages');
  await build({
    configFile: false,
    root: home,
    logLevel: 'warn',
    plugins: [ownPaths(form, packages)],
    ssr: { noExternal: true, resolve: { conditions } },
    build: {
      ssr: join(packages, 'cli/src/main.ts'),
      outDir: folder,
      emptyOutDir: true,
      minify: false,
      target: 'esnext',
      // The licences of third-party packages ask to be handed on with their code.
      license: { fileName: 'LICENSES.md' },
      rolldownOptions: { output: { chunkFileNames: '[name]-[hash].js' } },
    },
  });
}

if (import.meta.main) {
  const [folder = '', form = '', home = ''] = process.argv.slice(2);
  await write(folder, form as CommandForm, home);
}
