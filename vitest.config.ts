import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const conditions = ['source', 'node', 'import', 'default'];

/**
 * One project a package, so that `npm test -w packages/NAME` runs that package alone. Groups run one after the other: what is quick
 * first; then simulated clusters, which take all cores; last what runs real processes against the clock, one file at a time, so
 * that nothing else takes their CPU. (Group 0 with one worker would run last, not first.)
 */
const quick = ['core', 'placement', 'server', 'client', 'cli', 'dashboard'].map((name) =>
  project({ name, include: inPackage(name), group: 1 }),
);
const heavy = [project({ name: 'sim', include: inPackage('sim'), group: 2, timeoutMs: 600_000 })];
const alone = [
  project({
    name: 'scripts',
    include: ['scripts/**/*.test.ts', 'bench/**/*.test.ts'],
    group: 3,
    workers: 1,
  }),
  project({
    name: 'examples',
    include: ['examples/**/*.test.ts', 'deploy/**/*.test.ts'],
    group: 3,
    workers: 1,
  }),
  project({ name: 'security', include: ['test/security/**/*.test.ts'], group: 3, workers: 1 }),
  project({ name: 'ring', include: inPackage('ring'), group: 3, workers: 1 }),
  project({
    name: 'e2e',
    include: ['test/e2e/**/*.test.ts'],
    group: 3,
    workers: 1,
    timeoutMs: 180_000,
  }),
];

interface ProjectOptions {
  readonly name: string;
  readonly include: string[];
  readonly group: number;
  readonly workers?: number;
  readonly timeoutMs?: number;
}

function project(options: ProjectOptions) {
  const { name, include, group, workers = availableParallelism(), timeoutMs = 60_000 } = options;
  return {
    extends: true as const,
    test: {
      name,
      include,
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
  test: { setupFiles: ['./scripts/property-seed.ts'], projects: [...quick, ...heavy, ...alone] },
});
