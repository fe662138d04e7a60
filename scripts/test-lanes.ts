/**
 * Runs all tests in three lanes at once. The lane `clock` has the tests that judge how late callbacks come and how long
 * locks last, and runs almost nothing at a time. The other two use the processors that it leaves idle, at the lowest
 * priority, so that they make no member late: `processes` has tests of real processes, which wait more than they work,
 * and `calculate` has all others, which work while those wait. `npm run unit -- FILE` runs one file without lanes.
 * With CI set a skipped test is a failure, but for the tools that neither Debian nor npm has.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Report, skippedIn } from './skipped.ts';

const clockProjects = ['ring-etcd', 'cli-lock', 'e2e-stories', 'ring-partitions', 'e2e-clock'];
const processProjects = ['scripts', 'examples', 'e2e', 'security-processes'];
const lanes = [
  { name: 'clock', niceness: 0, chosen: clockProjects.map((name) => `--project=${name}`) },
  { name: 'processes', niceness: 19, chosen: processProjects.map((name) => `--project=${name}`) },
  {
    name: 'calculate',
    niceness: 19,
    chosen: [...clockProjects, ...processProjects].map((name) => `--project=!${name}`),
  },
];

type Lane = (typeof lanes)[number];

const inCi = (process.env['CI'] ?? '') !== '';
const reports = mkdtempSync(join(tmpdir(), 'carillon-reports-'));

function reportOf(lane: Lane): string {
  return join(reports, `${lane.name}.json`);
}

/** Each line of output begins with the name of the lane. Returns the exit code. */
function run(lane: Lane): Promise<number> {
  const { name, niceness, chosen } = lane;
  const reporters = ['default', 'json'].map((reporter) => `--reporter=${reporter}`);
  const told = inCi ? [...reporters, `--outputFile.json=${reportOf(lane)}`] : [];
  const vitest = ['vitest', 'run', ...chosen, ...told];
  const child = spawn('nice', ['-n', String(niceness), ...vitest], {
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

const given = process.argv.slice(2);
if (given.length > 0) {
  const child = spawn('vitest', ['run', ...given], { stdio: 'inherit' });
  child.on('close', (code) => (process.exitCode = code ?? 1));
} else {
  const codes = await Promise.all(lanes.map(run));
  process.exitCode = Math.max(...codes);
  for (const [i, { name }] of lanes.entries()) {
    console.log(`lane ${name}: ${codes[i] === 0 ? 'passed' : 'FAILED, see its lines above'}`);
  }
  const skipped = inCi ? lanes.flatMap((lane) => skippedIn(readReport(lane))) : [];
  for (const name of skipped) console.error(`skipped, which is a failure with CI set: ${name}`);
  if (skipped.length > 0) process.exitCode = 1;
}
rmSync(reports, { recursive: true, force: true });

function readReport(lane: Lane): Report {
  return JSON.parse(readFileSync(reportOf(lane), 'utf8')) as Report;
}
