/** The bundle of the client library, as a web app would load it. */
import { join } from 'node:path';
import { build, type Rolldown } from 'vite';

/** The client library as one file, without anything that only Node has. */
export async function bundledClient(): Promise<string> {
  const built = (await build({
    configFile: false,
    logLevel: 'silent',
    resolve: { conditions: ['source', 'browser', 'import', 'default'] },
    build: {
      write: false,
      minify: false,
      lib: {
        entry: join(import.meta.dirname, '../../../packages/client/src/index.ts'),
        formats: ['es'],
        fileName: 'client',
      },
    },
  })) as Rolldown.RolldownOutput[];
  const chunks = built.flatMap(({ output }) => output).filter(({ type }) => type === 'chunk');
  const [chunk] = chunks;
  if (chunk === undefined || chunks.length > 1)
    throw new Error(`There are ${chunks.length} files.`);
  return (chunk as Rolldown.OutputChunk).code;
}
