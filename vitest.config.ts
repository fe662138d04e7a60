import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const conditions = ['source', 'node', 'import', 'default'];

/**
 * One project a package, so that `npm test -w packages/NAME` runs that package alone. Groups run one after the other: quick tests
 * first; then simulated clusters, which take all cores; then real processes that wait more than they work, two files at a time;
 * last the tests that look at the clock, one file at a time, so that nothing else takes their CPU.
 */
const quick = ['core', 'placement', 'server', 'client', 'cli', 'dashboard'].map((name) =>
  project({ name, include: inPackage(name), group: 1 }),
);
quick.push(project({ name: 'soak', include: ['test/soak/**/*.test.ts'], group: 1 }));
const heavy = [project({ name: 'sim', include: inPackage('sim'), group: 2, timeoutMs: 600_000 })];

/** Files in test/e2e that judge how late or how often callbacks come. */
const clockTests = [
  'one-member',
  'tenants',
  'damaged-disk',
  'dev',
  'large-timers',
  'cluster-{etcd,faults,partition,scale,starved}',
];
const clockFiles = clockTests.map((name) => `test/e2e/${name}.test.ts`);
const waiting = [
  { name: 'scripts', include: ['scripts/**/*.test.ts', 'bench/**/*.test.ts'] },
  { name: 'examples', include: ['examples/**/*.test.ts', 'deploy/**/*.test.ts'] },
  { name: 'ring', include: inPackage('ring') },
  { name: 'e2e', include: ['test/e2e/**/*.test.ts'], exclude: clockFiles },
].map((one) => project({ ...one, group: 3, workers: 2, timeoutMs: 180_000 }));
const alone = [
  { name: 'security', include: ['test/security/**/*.test.ts'] },
  { name: 'ring-partitions', include: ['test/ring-soak/**/*.test.ts'] },
  { name: 'e2e-clock', include: clockFiles },
].map((one) => project({ ...one, group: 4, workers: 1, timeoutMs: 180_000 }));

interface ProjectOptions {
  readonly name: string;
  readonly include: string[];
  readonly exclude?: string[];
  readonly group: number;
  readonly workers?: number;
  readonly timeoutMs?: number;
}

function project(options: ProjectOptions) {
  const { name, include, exclude = [], group, timeoutMs = 60_000 } = options;
  const { workers = availableParallelism() } = options;
  return {
    extends: true as const,
    test: {
      name,
      include,
      exclude: ['**/node_modules/**', ...exclude],
      testTimeout: timeoutMs,
      hookTimeout: timeoutMs,
      sequence: { groupOrder: group },
      maxWorkers: workers,
    },
  };
}

function inPackage(name: string): string[] {
  return [`packages/${name}/{src,scenarios}/**/*.test.ts`];
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    setupFiles: ['./scripts/property-seed.ts'],
    projects: [...quick, ...heavy, ...waiting, ...alone],
  },
});
