/**
 * `npm run pack -- FOLDER`: the packages as archives to publish (`npm publish FOLDER/NAME.tgz`). Needs `npm run build`.
 * Refuses while the repository has no address: every package would link to nothing.
 */
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { origin, type Staged, stagePackages } from './stage.ts';

export interface Packed extends Staged {
  readonly archive: string;
}

/** Archives in `target`, in the order in which they can be published. `folder` of each is where it was laid out. */
export function packPackages(target: string): Packed[] {
  const staged = stagePackages(join(target, 'staged'));
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

function main(given: string | undefined): void {
  const { homepage } = origin();
  if (given === undefined) throw new Error('npm run pack -- FOLDER: name the folder to write to.');
  if (new URL(homepage).hostname.endsWith('.example')) {
    throw new Error(
      `The root package.json says that the repository is at ${homepage}, which no browser finds: write its address there.`,
    );
  }
  for (const { archive } of packPackages(resolve(given))) console.log(archive);
}

if (import.meta.main) main(process.argv[2]);
