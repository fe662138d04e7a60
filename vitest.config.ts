import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongFirst } from './scripts/suite/long-first.ts';

const cores = availableParallelism();

/** Tests of packages that need a real etcd; their locks have leases of 2 s. */
const ringEtcdFiles = [
  'packages/ring/src/ring-{etcd,restarts,history,processes}.test.ts',
  'packages/ring/src/etcd/etcd-client.test.ts',
];
const ringSimulationFiles = ['packages/ring/src/simulated/*.test.ts'];
/** Programs that are started anew for each test. */
const programFiles = [
  'packages/cli/src/{main,launcher,member/compile-cache}.test.ts',
  'packages/server/src/start/system-heap.test.ts',
  'packages/ring/src/lock-fencing.test.ts',
];
const lockCommandFiles = ['packages/cli/src/commands/placement/lock.test.ts'];
/** Variants of the product with one fault each, to show that a checker notices. */
const brokenFiles = ['packages/sim/src/broken/*.test.ts'];
/** Simulations of minutes: seeds, and members under load. */
const seedFiles = ['packages/sim/{src/{seeds,runner},scenarios/load}/*.test.ts'];
/** Shares at a million keys. */
const statisticsFiles = ['packages/placement/src/statistics.test.ts'];
/** Clusters under load whose promises hold on a busy machine too: lateness counts from the machine's own stalls. */
const storyFiles = ['test/e2e/{upgrade,dev,cluster-{etcd,faults,partition,scale,secrets}}.test.ts'];
/** Tests that judge how late or how often callbacks come. */
const clockFiles = [
  'test/e2e/{one-member,tenants,damaged-disk,large-timers,cluster-starved}.test.ts',
];

/** How long `expect.poll` waits. */
const pollMs = 30_000;

/**
 * Groups run one after the other: 1 unit tests and scenarios, 2 programs that only calculate, 3 real processes that
 * wait more than they work, one file more at a time than there are processors, 4 locks with short leases and clusters
 * under load, three files at a time, 5 tests that judge how late and how often callbacks come, one file at a time.
 * `scripts/suite/lanes.ts` runs groups 1 and 2, group 3, and groups 4 and 5 beside each other; the last have the
 * highest priority.
 */
const groups: readonly Group[] = [
  // Files of one project share processes and the modules loaded there, which saves half of the processor time.
  { order: 1, workers: cores, timeoutMs: 180_000, retry: 0, isolate: false },
  { order: 2, workers: cores, timeoutMs: 600_000, retry: 0, isolate: false },
  // Real processes share the machine with everything else on it, so a test that failed has a second attempt, from its
  // beginning.
  { order: 3, workers: cores + 1, timeoutMs: 300_000, retry: 1, isolate: true },
  { order: 4, workers: 3, timeoutMs: 180_000, retry: 1, isolate: true },
  { order: 5, workers: 1, timeoutMs: 180_000, retry: 1, isolate: true },
];

const projects = [
  // One project for all packages: its files share two processes, and each loads the modules of the server once.
  project(1, {
    name: 'unit',
    include: ['packages/*/{src,scenarios}/**/*.test.ts', 'test/soak/**/*.test.ts'],
    exclude: [
      ...ringEtcdFiles,
      ...ringSimulationFiles,
      ...programFiles,
      ...lockCommandFiles,
      ...brokenFiles,
      ...seedFiles,
      ...statisticsFiles,
    ],
  }),
  project(2, { name: 'sim-broken', include: brokenFiles }),
  project(2, { name: 'sim-seeds', include: seedFiles }),
  project(2, { name: 'ring-simulation', include: ringSimulationFiles }),
  project(2, { name: 'placement-statistics', include: statisticsFiles }),
  project(2, {
    name: 'security',
    include: ['test/security/{differential,fuzz,growth,page}/*.test.ts'],
    // Some measure the memory of their process.
    isolate: true,
    // Some measure CPU time, in which a busy machine shows.
    retry: 1,
  }),
  project(3, { name: 'programs', include: programFiles }),
  project(3, { name: 'scripts', include: ['scripts/**/*.test.ts', 'bench/**/*.test.ts'] }),
  project(3, { name: 'examples', include: ['examples/**/*.test.ts', 'deploy/**/*.test.ts'] }),
  project(3, {
    name: 'e2e',
    include: ['test/e2e/**/*.test.ts'],
    exclude: [...storyFiles, ...clockFiles],
    // Loading the driver of the browser takes a second of a processor for each file.
    isolate: false,
  }),
  project(3, {
    name: 'security-processes',
    include: ['test/security/{,proxies/}*.test.ts'],
  }),
  project(4, { name: 'ring-etcd', include: ringEtcdFiles }),
  project(4, { name: 'cli-lock', include: lockCommandFiles }),
  project(4, { name: 'e2e-stories', include: storyFiles }),
  project(5, { name: 'ring-partitions', include: ['test/ring-soak/**/*.test.ts'] }),
  project(5, { name: 'e2e-clock', include: clockFiles }),
];

interface Group {
  readonly order: number;
  readonly workers: number;
  readonly timeoutMs: number;
  readonly retry: number;
  readonly isolate: boolean;
}

interface ProjectOptions {
  readonly name: string;
  readonly include: string[];
  readonly exclude?: string[];
  /** Both instead of the group's. */
  readonly isolate?: boolean;
  readonly retry?: number;
}

function project(order: number, options: ProjectOptions) {
  const group = groups[order - 1] as Group;
  const { name, include, exclude = [], isolate = group.isolate, retry = group.retry } = options;
  return {
    extends: true as const,
    test: {
      name,
      include,
      exclude: ['**/node_modules/**', ...exclude],
      testTimeout: group.timeoutMs,
      hookTimeout: group.timeoutMs,
      // A poll waits for something that comes: by default it gives up after a second without a processor.
      expect: { poll: { timeout: pollMs } },
      retry,
      isolate,
      sequence: { groupOrder: order },
      maxWorkers: group.workers,
    },
  };
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    setupFiles: ['./scripts/property-seed.ts'],
    // Node loads the sources itself, as it does for members. In the form that vite gives them, each use of an import is
    // a lookup in an object, with which simulations take half as much time again.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ['--conditions=source'],
    // Members and commands start some two hundred times; with the compiled form kept they start twice as fast.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/carillon-compiled') },
    projects,
  },
});
