/**
 * Pages of types by TypeDoc, one set of options after the other in one process: `node types.ts TOOLS OPTIONS`. TOOLS is
 * the manifest in whose folder TypeDoc is installed, OPTIONS a file with a list of its options.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** The interface of TypeDoc, as far as it is used here; its package is not one of the repository's. */
interface TypeDoc {
  readonly Application: {
    bootstrapWithPlugins(options: object): Promise<{
      convert(): Promise<object | undefined>;
      generateOutputs(project: object): Promise<void>;
      readonly logger: { hasErrors(): boolean };
    }>;
  };
}

const [tools = '', file = ''] = process.argv.slice(2);
const program = pathToFileURL(createRequire(tools).resolve('typedoc')).href;
const { Application } = (await import(program)) as TypeDoc;
for (const options of JSON.parse(readFileSync(file, 'utf8')) as object[]) {
  const app = await Application.bootstrapWithPlugins(options);
  const project = await app.convert();
  if (project !== undefined) await app.generateOutputs(project);
  if (project === undefined || app.logger.hasErrors()) process.exit(1);
}
