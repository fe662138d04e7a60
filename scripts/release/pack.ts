/**
 * `npm run pack -- FOLDER`: the packages as archives, built first. While the repository has no address every package
 * would link to nothing: then the archives can be installed, and npm refuses to publish them.
 */
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { buildPackages } from './build.ts';
import { type ArchiveUse, origin, type Staged, stagePackages } from './stage.ts';

export interface Packed extends Staged {
  readonly archive: string;
}

/** Archives in `target`, in the order in which they can be published. `folder` of each is where it was laid out. */
export function packPackages(target: string, use: ArchiveUse): Packed[] {
  const staged = stagePackages(join(target, 'staged'), use);
  const folders = staged.map(({ folder }) => folder);
  // All in one process: starting npm takes longer than packing.
  execFileSync('npm', ['pack', '--silent', '--pack-destination', target, ...folders], {
    cwd: target,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return staged.map((one) => {
    const file = `${one.name.replace('@', '').replace('/', '-')}-${one.version}.tgz`;
    return { ...one, archive: join(target, file) };
  });
}

const usage = `Usage: npm run pack -- FOLDER

Builds the packages and writes them to FOLDER as archives, in the order in which they can be published. It need not be
there.`;

/** The folder to write to, or else the text to tell: the usage, or a fault. */
export function packArguments(
  args: readonly string[],
): { readonly folder: string } | { readonly text: string; readonly exitCode: 0 | 2 } {
  const [folder, extra] = args;
  if (args.includes('--help') || args.includes('-h')) return { text: usage, exitCode: 0 };
  const wrong = (text: string) => ({ text, exitCode: 2 }) as const;
  if (folder === undefined || folder === '')
    return wrong('Name the folder to write to, as in npm run pack -- FOLDER.');
  if (folder.startsWith('-'))
    return wrong(`There is no flag ${folder} here; a folder of this name is ./${folder}.`);
  if (extra !== undefined) return wrong(`"${extra}" is too much here: name one folder.`);
  return { folder };
}

async function main(args: readonly string[]): Promise<void> {
  const read = packArguments(args);
  if ('text' in read) {
    if (read.exitCode === 0) console.log(read.text);
    else console.error(read.text);
    process.exitCode = read.exitCode;
    return;
  }
  await buildPackages();
  const { homepage } = origin();
  const use = new URL(homepage).hostname.endsWith('.example') ? 'try' : 'publish';
  for (const { archive } of packPackages(resolve(read.folder), use)) console.log(archive);
  if (use === 'publish') return;
  console.error(
    `These archives are for trying out, and npm refuses to publish them: the root package.json says that the repository is at ${homepage}, which no browser finds.`,
  );
}

if (import.meta.main) await main(process.argv.slice(2));
