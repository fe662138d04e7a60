/**
 * Whether the types of packages resolve as they will be installed: `node check-types.ts ARCHIVE …`. Prints a line for
 * each problem; one process, because loading the compiler takes longer than a package. The packages are ESM only, so
 * problems of a CommonJS project, and of resolution before `exports`, are none.
 */
import { readFileSync } from 'node:fs';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';

const unsupported: readonly string[] = ['node10', 'node16-cjs'];

for (const archive of process.argv.slice(2)) {
  const checked = await checkPackage(createPackageFromTarballData(readFileSync(archive)));
  const problems = 'problems' in checked ? checked.problems : [{ kind: 'no types' }];
  for (const problem of problems) {
    const isOurs = !('resolutionKind' in problem && unsupported.includes(problem.resolutionKind));
    if (isOurs) console.log(`${checked.packageName}: ${JSON.stringify(problem)}`);
  }
}
