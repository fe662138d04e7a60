/**
 * The order of test files within a group. vitest goes by the name of the project, and a fresh clone knows no durations:
 * a file of a minute that comes last then runs alone. The files that take longest begin first, so that they end among
 * the others.
 *
 * Example: with two workers and files of 5, 5, 5, 5 and 20 s, the last one first takes 20 s in all instead of 30.
 */
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of 20 s and more on two cores, the longest first. */
export const longFiles: readonly string[] = [
  'scripts/rehearsal.test.ts',
  'scripts/site/site.test.ts',
  'test/e2e/cluster-faults.test.ts',
  'test/e2e/cluster-scale.test.ts',
  'test/e2e/dashboard.test.ts',
  'packages/ring/src/ring-processes.test.ts',
  'packages/ring/src/ring-history.test.ts',
  'test/e2e/cluster-etcd.test.ts',
  'test/e2e/dashboard-history.test.ts',
  'test/e2e/dashboard-pages.test.ts',
  'test/security/growth/growth.test.ts',
  'test/security/fuzz/fuzz.test.ts',
  'test/e2e/upgrade.test.ts',
  'test/e2e/cluster-secrets.test.ts',
  'bench/smoke.test.ts',
  'test/security/proxies/proxies.test.ts',
  'scripts/published.test.ts',
  'packages/ring/src/ring-etcd.test.ts',
  'packages/sim/src/seeds/seeds-16-30.test.ts',
].map((file) => join(import.meta.dirname, '../..', file));

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of a sequencer, not of an array
    return byLength(await super.sort(files));
  }
}

/** A test file as far as its order goes. */
interface OrderedFile {
  readonly moduleId: string;
  readonly project: { readonly config: { readonly sequence: { readonly groupOrder: number } } };
}

/** Keeps the order of groups, and within a group the order of all other files. */
export function byLength<T extends OrderedFile>(files: readonly T[]): T[] {
  const order = ({ project }: T): number => project.config.sequence.groupOrder;
  const place = ({ moduleId }: T): number => {
    const found = longFiles.indexOf(moduleId);
    return found < 0 ? longFiles.length : found;
  };
  return files.toSorted((a, b) => order(a) - order(b) || place(a) - place(b));
}
