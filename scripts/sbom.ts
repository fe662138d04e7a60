/**
 * `npm run sbom --silent > carillon-VERSION.cdx.json`: the parts of a release, as CycloneDX. npm writes it from the
 * lock file; here it is checked that it names everything that runs, and nothing without a hash. A release without
 * such a list is not made.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Lock, runtimeTree } from './sbom/runtime-tree.ts';

interface Component {
  readonly 'bom-ref': string;
  readonly hashes?: readonly unknown[];
}

const root = join(import.meta.dirname, '..');
/** The package that is installed to run a member; it brings all the others. */
const released = 'packages/cli';

function main(): void {
  // Not --omit dev: npm then also leaves out packages that development tools happen to need too. The workspace itself
  // has no such tools.
  const given = ['-w', released, '--package-lock-only', '--sbom-format', 'cyclonedx'];
  const text = execFileSync('npm', ['sbom', ...given, '--sbom-type', 'application'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const bill = JSON.parse(text) as { metadata: object; components: readonly Component[] };
  const problems = compare(bill.components);
  for (const problem of problems) console.error(problem);
  const { name, version } = manifestOf(released);
  const components = bill.components.filter((one) => one['bom-ref'] !== `${name}@${version}`);
  const component = { 'bom-ref': `${name}@${version}`, type: 'application', name, version };
  const metadata = { ...bill.metadata, component };
  if (problems.length === 0)
    console.log(JSON.stringify({ ...bill, metadata, components }, null, 2));
  process.exitCode = problems.length === 0 ? 0 : 1;
}

function compare(components: readonly Component[]): string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const tree = runtimeTree(lock, released);
  const wanted = new Set(tree.map(({ key, version }) => `${nameOf(key)}@${version}`));
  const listed = new Set(components.map((one) => one['bom-ref']));
  const missing = [...wanted].filter((one) => !listed.has(one));
  const extra = [...listed].filter((one) => !wanted.has(one));
  const bare = components.filter((one) => one.hashes === undefined).map((one) => one['bom-ref']);
  const own = new Set(tree.filter(({ key }) => !isForeign(key)).map(({ key }) => nameOf(key)));
  return [
    ...missing.map((one) => `${one} runs and is not listed.`),
    ...extra.map((one) => `${one} is listed and does not run.`),
    ...bare
      .filter((one) => !own.has(one.slice(0, one.lastIndexOf('@'))))
      .map((one) => `${one} has no hash.`),
  ];
}

function isForeign(key: string): boolean {
  return key.includes('node_modules/');
}

function nameOf(key: string): string {
  return isForeign(key) ? key.slice(key.lastIndexOf('node_modules/') + 13) : manifestOf(key).name;
}

function manifestOf(folder: string): { readonly name: string; readonly version: string } {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
  };
}

main();
