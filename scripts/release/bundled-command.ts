/**
 * The command as a few files, for tests that start it some two hundred times: loading its sources one by one takes
 * three quarters of the processor time of a start. The files behave as the sources do, at the places of the sources.
 */
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Plugin } from 'vite';

const root = join(import.meta.dirname, '../..');
const conditions = ['source', 'node', 'import', 'default'];

/** Sources find their neighbours by their own path. */
const ownPaths: Plugin = {
  name: 'own-paths',
  enforce: 'pre',
  async load(id) {
    if (!id.startsWith(join(root, 'packages')) || !id.endsWith('.ts')) return null;
    const code = await readFile(id, 'utf8');
    return code
      .replaceAll('import.meta.filename', () => JSON.stringify(id))
      .replaceAll('import.meta.dirname', () => JSON.stringify(join(id, '..')));
  },
};

/** In a process of its own: building sets NODE_ENV, which npm and the tests would inherit. Returns the file to run. */
export function bundleCommand(folder: string): string {
  execFileSync(process.execPath, [import.meta.filename, folder], { stdio: 'inherit' });
  return join(folder, 'main.js');
}

/** Writes the files into a folder of its own. */
async function write(folder: string): Promise<void> {
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    plugins: [ownPaths],
    ssr: { noExternal: true, resolve: { conditions } },
    build: {
      ssr: join(root, 'packages/cli/src/main.ts'),
      outDir: folder,
      emptyOutDir: true,
      minify: false,
      target: 'esnext',
    },
  });
}

if (import.meta.main) await write(process.argv[2] as string);
