/** The bundle of the client library, and a web app that loads it. */
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

/** Objects that the page of the app leaves for the tests. */
export interface App {
  readonly carillon: typeof import('@carillon/client');
}

/** The files of the app by path: type and text. */
export function appFiles(library: string): Readonly<Record<string, readonly [string, string]>> {
  return {
    '/page': [
      'text/html',
      '<!doctype html><title>app</title><script type="module" src="/app.js"></script>',
    ],
    '/app.js': ['text/javascript', "import * as all from '/client.js'; window.carillon = all;"],
    '/client.js': ['text/javascript', library],
  };
}
