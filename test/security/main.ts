/**
 * `npm run security`: first the attacks that once stopped or misled a member (`findings/`), then a million inputs that
 * no client sends in good faith, into every place where bytes from outside come in (`fuzz/`). Ends with 1 when one of
 * them is over its limit, and says how to see it again; `--write` puts both tables into docs/security.md. Then the
 * parts that are tests of their own: a million inputs against llhttp, nginx and haproxy in front, and a browser.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findings } from './findings/findings.ts';
import { openProgress, type Progress } from './findings/resume.ts';
import { asRows, tryFindings } from './findings/try.ts';
import { asComplaint, asJson, asMarkdown, asTable, foundIn, type Run } from './fuzz/report.ts';
import { complaint, run } from './fuzz/run.ts';
import type { Surface, Tally } from './fuzz/surface.ts';
import { allSurfaces } from './fuzz/surfaces.ts';
import { writeBlock } from './page/blocks.ts';
import { table } from '../../scripts/markdown/marked-block.ts';

const help = `npm run security -- [options]

  --part PART      only this one: findings, fuzz, others (llhttp, proxies, browser)
  --finding N      only the attacks of this finding
  --inputs N       how many, all surfaces together (1000000)
  --seed N|any     which ones (1); any: others each time
  --surface NAME   only this one
  --input BASE64   this input of --surface, and no other
  --resume         take up the results of a run of this commit that was broken off, and try rows again that did not hold
  --write          write the tables of this run into docs/security.md, unless only a part of one was made
  --json           for programs
`;

/** A run with fewer inputs completes no other. */
const inputCountWhole = 1_000_000;
/** Far above the needs of the corpora and the compiled code. */
const rssBytesMax = 1024 * 1024 * 1024;

const parts = ['findings', 'fuzz', 'others'];
const otherTests = [
  ['security', 'test/security/differential', '1,000,000 inputs beside llhttp'],
  ['security-processes', 'test/security/proxies', 'nginx and haproxy in front of a member'],
  ['e2e', 'test/e2e/browser-origins', 'pages of other origins, in Chromium'],
] as const;

interface Given {
  readonly seed: number;
  readonly inputs: number;
  readonly surface: string | undefined;
  readonly input: string | undefined;
  readonly write: boolean;
  readonly json: boolean;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      part: { type: 'string' },
      finding: { type: 'string' },
      inputs: { type: 'string', default: '1000000' },
      seed: { type: 'string', default: '1' },
      surface: { type: 'string' },
      input: { type: 'string' },
      write: { type: 'boolean', default: false },
      resume: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(help);
    return;
  }
  const { part, surface, finding, write, json, input } = values;
  if (part !== undefined && !parts.includes(part)) fail(`There is no part ${part}.`);
  const isAll = part === undefined && surface === undefined && finding === undefined;
  // A single attack or surface is no run that goes on later, unless it is to complete one.
  const progress = openProgress(values.resume, finding === undefined && surface === undefined);
  if ((part === 'findings' || part === undefined) && surface === undefined)
    await attack(finding, write, progress);
  const seed = values.seed === 'any' ? Date.now() >>> 0 : wholeNumber(values.seed, '--seed');
  const inputs = wholeNumber(values.inputs, '--inputs');
  if ((part === 'fuzz' || part === undefined) && finding === undefined) {
    const isWhole = surface === undefined && inputs >= inputCountWhole;
    await timed({ part: 'fuzz', isWhole }, progress, () =>
      fuzz({ seed, inputs, surface, input, write, json }),
    );
  }
  if (isAll || part === 'others')
    await timed({ part: 'others', isWhole: true }, progress, () => others(write));
}

/** Makes a part, unless a run that is taken up has made it, and says how long it took. */
async function timed(
  { part, isWhole }: { readonly part: string; readonly isWhole: boolean },
  progress: Progress,
  make: () => unknown,
): Promise<void> {
  if (isWhole && progress.isDone(part)) {
    console.error(`security: the part ${part} was made before.`);
    return;
  }
  const startMs = performance.now();
  const before = process.exitCode;
  process.exitCode = 0;
  await make();
  if (process.exitCode === 0 && isWhole) progress.done(part);
  process.exitCode ||= before;
  const seconds = Math.round((performance.now() - startMs) / 1000);
  console.error(`security: the part ${part} took ${seconds} s.`);
}

/** Counts of a report of vitest. */
interface Counted {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
}

/** Tests that `npm test` runs too, here with more inputs. */
function others(write: boolean): void {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-security-'));
  const rows = otherTests.map(([project, files, what]) => {
    const report = join(folder, `${project}.json`);
    const env = { ...process.env, DIFFERENTIAL_INPUTS: '1000000' };
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const args = ['vitest', 'run', '--project', project, files, ...reporters];
    console.error(`security: ${args.join(' ')}`);
    const { status } = spawnSync('npx', args, { stdio: 'inherit', env });
    if (status !== 0) process.exitCode = 1;
    const counted = JSON.parse(readFileSync(report, 'utf8')) as Counted;
    const { numPassedTests, numFailedTests, numPendingTests } = counted;
    return [what, files, ...[numPassedTests, numFailedTests, numPendingTests].map(String)];
  });
  rmSync(folder, { recursive: true });
  const lines = table(['', 'tests in', 'passed', 'failed', 'skipped'], rows);
  if (write) writeBlock('others', lines);
  console.log(lines.join('\n'));
}

/** Every attack of the table, one after the other. */
async function attack(
  number: string | undefined,
  write: boolean,
  progress: Progress,
): Promise<void> {
  const chosen = findings.filter((one) => number === undefined || String(one.number) === number);
  const results = await tryFindings(chosen, (line) => console.error(`security: ${line}`), progress);
  const rows = asRows(results);
  if (write && number === undefined) writeBlock('findings', rows);
  console.log(rows.join('\n'));
  if (results.some(({ holds }) => !holds)) process.exitCode = 1;
}

async function fuzz(given: Given): Promise<void> {
  const tally = {
    addressesRefused: 0,
    forbiddenConnections: 0,
    strangersLetIn: 0,
    serverErrors: 0,
  };
  const all = await allSurfaces(given.seed, tally);
  const surfaces = all.filter(({ name }) => given.surface === undefined || name === given.surface);
  const [first] = surfaces;
  if (first === undefined) {
    fail(
      `There is no surface ${given.surface}; there are ${all.map(({ name }) => name).join(', ')}.`,
    );
  }
  if (given.input === undefined) await tryAll(surfaces, tally, given);
  else await tryAgain(first, Buffer.from(given.input, 'base64'));
  for (const surface of all) await surface[Symbol.asyncDispose]?.();
}

async function tryAll(
  surfaces: readonly Surface[],
  tally: Tally,
  { seed, inputs, surface, write, json }: Given,
): Promise<void> {
  const startMs = performance.now();
  const before = process.memoryUsage.rss();
  const results = await run(surfaces, { seed, inputs, tally });
  const after = process.memoryUsage.rss();
  const seconds = (performance.now() - startMs) / 1000;
  const done: Run = { seed, seconds, rssBytes: { before, after }, tally, results };
  console.log(json ? asJson(done) : asTable(done));
  if (write && surface === undefined) writeBlock('fuzz', asMarkdown(done));
  for (const found of foundIn(done)) console.error(`\n${asComplaint(found)}`);
  if (after - before > rssBytesMax) console.error(`Memory grew by ${after - before} bytes.`);
  if (foundIn(done).length > 0 || after - before > rssBytesMax) process.exitCode = 1;
}

async function tryAgain(surface: Surface, input: Uint8Array): Promise<void> {
  const what = await complaint(surface, input);
  console.log(what ?? 'Nothing is wrong with this input.');
  if (what !== null) process.exitCode = 1;
}

function wholeNumber(text: string, flag: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) fail(`${flag} must be a whole number, not ${text}.`);
  return Number(text);
}

function fail(message: string): never {
  console.error(`security: ${message}`);
  process.exit(2);
}

await main();
