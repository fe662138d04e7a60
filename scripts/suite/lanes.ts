/**
 * Runs all tests in three lanes at once. The lane `clock` has the tests that judge how late callbacks come and how long
 * locks last, and runs almost nothing at a time. The other two use the processors that it leaves idle, at the lowest
 * priority, so that they make no member late: `processes` has tests of real processes, which wait more than they work,
 * and `calculate` has all others, which work while real processes wait. A file that failed is run once more when the
 * lanes are done, alone: a busy machine makes tests with sockets late. `npm run unit -- FILE` runs one file without
 * lanes. With CI set a skipped test is a failure, but for the tools that neither Debian nor npm has.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildNextRelease } from '../../test/e2e/support/next-release.ts';
import { buildPackages } from '../release/build.ts';
import { bundleCommand } from '../release/bundled-command.ts';
import { type FailedFile, failedIn, type Report, skippedIn } from './report.ts';

const clockProjects = ['ring-etcd', 'cli-lock', 'e2e-stories', 'ring-partitions', 'e2e-clock'];
const processProjects = ['programs', 'scripts', 'examples', 'e2e', 'security-processes'];
/** More failed files than this are no accident. */
const mostAgain = 6;
const lanes: readonly Lane[] = [
  { name: 'clock', niceness: 0, chosen: only(clockProjects) },
  { name: 'processes', niceness: 19, chosen: only(processProjects) },
  {
    name: 'calculate',
    niceness: 19,
    chosen: [...clockProjects, ...processProjects].map((name) => `--project=!${name}`),
  },
];

interface Lane {
  readonly name: string;
  readonly niceness: number;
  /** Arguments that choose its tests. */
  readonly chosen: readonly string[];
}

const bundleFolder = join(import.meta.dirname, '../../node_modules/.cache/carillon-command');
const inCi = (process.env['CI'] ?? '') !== '';
const reports = mkdtempSync(join(tmpdir(), 'carillon-reports-'));

const given = process.argv.slice(2);
if (given.length > 0) {
  const child = spawn('vitest', ['run', ...given], { stdio: 'inherit' });
  child.on('close', (code) => (process.exitCode = code ?? 1));
} else {
  process.exitCode = await runAll();
}
rmSync(reports, { recursive: true, force: true });

/** Returns the exit code. */
async function runAll(): Promise<number> {
  // Once, before tests of releases and of the site ask for it at the same time.
  await buildPackages();
  // Read by `test/e2e/cli-process.ts`; tests of `packages/cli/src/main.ts` itself run the sources.
  process.env['BUNDLED_COMMAND'] = bundleCommand(bundleFolder, 'clone');
  const next = buildNextRelease();
  process.env['NEXT_RELEASE'] = next.program;
  try {
    return await runLanes();
  } finally {
    next.remove();
  }
}

/** Returns the exit code. */
async function runLanes(): Promise<number> {
  const codes = await Promise.all(lanes.map(run));
  const failedToo: boolean[] = [];
  for (const [i, lane] of lanes.entries()) {
    failedToo.push(codes[i] !== 0 && !(await passesAlone(lane)));
  }
  for (const [i, { name }] of lanes.entries()) {
    console.log(`lane ${name}: ${failedToo[i] === true ? 'FAILED, see above' : 'passed'}`);
  }
  const skipped = inCi ? lanes.flatMap((lane) => skippedIn(reportOf(lane))) : [];
  for (const name of skipped) console.error(`skipped, which is a failure with CI set: ${name}`);
  return failedToo.includes(true) || skipped.length > 0 ? 1 : 0;
}

/** Each line of output begins with the name of the lane. Returns the exit code. */
function run({
  name,
  niceness,
  chosen,
}: Pick<Lane, 'name' | 'niceness' | 'chosen'>): Promise<number> {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${pathOf(name)}`];
  const child = spawn('nice', ['-n', String(niceness), 'vitest', 'run', ...chosen, ...reporters], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const [input, output] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    createInterface({ input }).on('line', (line) => output.write(`${name} | ${line}\n`));
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** Tells why a lane failed, and runs its failed files alone. */
async function passesAlone(lane: Lane): Promise<boolean> {
  const failed = failedIn(reportOf(lane));
  tell(lane.name, failed);
  if (failed.length === 0 || failed.length > mostAgain) return false;
  const name = `${lane.name}, alone`;
  const chosen = [...lane.chosen, '--maxWorkers=1', ...failed.map(({ path }) => path)];
  const passed = (await run({ name, niceness: 0, chosen })) === 0;
  if (!passed) tell(name, failedIn(reportOf({ name })));
  return passed;
}

function tell(name: string, failed: readonly FailedFile[]): void {
  for (const { path, reasons } of failed) {
    for (const reason of reasons) console.log(`${name} failed: ${path} ${reason}`);
  }
}

function reportOf({ name }: Pick<Lane, 'name'>): Report {
  return JSON.parse(readFileSync(pathOf(name), 'utf8')) as Report;
}

function pathOf(name: string): string {
  return join(reports, `${name}.json`);
}

function only(projects: readonly string[]): string[] {
  return projects.map((name) => `--project=${name}`);
}
