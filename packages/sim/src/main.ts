/** `npm run sim -- --seeds 1000`: many runs, one line of progress, and a report of broken promises. */
import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { variants } from './broken/variants.ts';
import { type PlanOptions, wholePlan } from './plan.ts';
import { report } from './report.ts';
import type { RunResult } from './run.ts';
import { jobsFor, runSeeds } from './runner/run-seeds.ts';
import { shrink } from './shrink.ts';

const help = `npm run sim -- [options]

  --seeds N         how many runs (1)
  --seed N          the seed of the first (1); random: any, and the first line says which
  --jobs N          how many at a time, on a thread each (as many as there are cores, fewer for less than 20 seeds)
  --minutes N       virtual minutes of each (10)
  --dense           timers near the faults, and changed quickly: finds more
  --all             go on after the first that fails
  --shrink          look for a smaller plan that breaks the same promise
  --trace           every event of the runs
  --timers A,B,…    only these timers of the plan, by number
  --faults A,B,…    only these faults of the plan, by number
  --broken VARIANT  break the members on purpose, to see that a checker notices
  --help            this

The same seed is the same run, event for event. Ends with 0 when every promise was kept, with 1 when one was broken, with 2 when an
option is wrong.
`;

const values = optionsGiven();

function optionsGiven() {
  try {
    return parseArgs({
      options: {
        seeds: { type: 'string', default: '1' },
        seed: { type: 'string', default: '1' },
        jobs: { type: 'string' },
        minutes: { type: 'string', default: '10' },
        timers: { type: 'string' },
        faults: { type: 'string' },
        dense: { type: 'boolean', default: false },
        trace: { type: 'boolean', default: false },
        shrink: { type: 'boolean', default: false },
        all: { type: 'boolean', default: false },
        broken: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    return wrong(error instanceof Error ? `${error.message}.` : String(error));
  }
}

function wrong(message: string): never {
  console.error(`sim: ${message} See --help.`);
  process.exit(2);
}

function positive(text: string, option: string): number {
  const value = Number(text);
  return value > 0 && Number.isFinite(value)
    ? value
    : wrong(`${option} ${text} is not a number above 0.`);
}

function whole(text: string, option: string): number {
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= 0
    ? value
    : wrong(`${option} ${text} is not a whole number.`);
}

/** undefined: all. Nothing: none. */
function wholes(text: string | undefined, option: string): readonly number[] | null {
  if (text === undefined) return null;
  return text === '' ? [] : text.split(',').map((number) => whole(number, option));
}

function variantGiven(given: string | undefined): string | null {
  if (given === undefined) return null;
  if (variants.some(({ name }) => name === given)) return given;
  return wrong(`--broken is one of: ${variants.map(({ name }) => name).join('; ')}.`);
}

/** The first seed: the one that was given, or one drawn now. */
function firstSeed(count: number): number {
  if (values.seed !== 'random') return whole(values.seed, '--seed');
  const first = randomInt(1, 2 ** 32 - count);
  console.log(`Seeds ${first} to ${first + count - 1}.`);
  return first;
}

function jobsGiven(count: number): number {
  const { jobs } = values;
  return jobs === undefined
    ? jobsFor(count, availableParallelism())
    : Math.max(1, whole(jobs, '--jobs'));
}

const startedMs = performance.now();
const sums = { seeds: 0, events: 0, callbacks: 0 };
const failed: number[] = [];

async function main(): Promise<void> {
  if (values.help) return console.log(help);
  const count = whole(values.seeds, '--seeds');
  const range = { first: firstSeed(count), count };
  const options: PlanOptions = {
    ...wholePlan,
    minutes: positive(values.minutes, '--minutes'),
    dense: values.dense,
    timers: wholes(values.timers, '--timers'),
    faults: wholes(values.faults, '--faults'),
  };
  const job = { options, trace: values.trace, broken: variantGiven(values.broken) };
  await runSeeds(range, jobsGiven(range.count), job, async (result) => {
    sums.seeds++;
    sums.events += result.events;
    sums.callbacks += result.callbacks;
    if (values.trace) console.log(result.lines.join('\n'));
    if (result.violations.length > 0) {
      failed.push(result.plan.seed);
      await failure(result, options);
    }
    progress(range.count);
    if (range.count === 1) console.log(`trace ${result.hash}`);
    return values.all || failed.length === 0;
  });
  console.log(summary());
  process.exitCode = failed.length === 0 ? 0 : 1;
}

function seconds(): number {
  return (performance.now() - startedMs) / 1000;
}

function summary(): string {
  const { seeds, events, callbacks } = sums;
  const { user, system } = process.cpuUsage();
  const cpuSeconds = (user + system) / 1e6;
  const which = failed.length > 0 ? ` (${failed.join(', ')})` : '';
  return (
    `${seeds} seeds, ${failed.length} failed${which}: ${events} events and ${callbacks} callbacks in ${seconds().toFixed(1)} s, ` +
    `${cpuSeconds.toFixed(1)} s of CPU, ${Math.round(events / cpuSeconds)} events a second of CPU.`
  );
}

const progressEveryMs = 10_000;
let shownMs = startedMs;

/** One line that moves on a terminal; elsewhere a line now and then. */
function progress(count: number): void {
  const { isTTY } = process.stdout;
  const nowMs = performance.now();
  if (!isTTY && nowMs - shownMs < progressEveryMs) return;
  shownMs = nowMs;
  const pace = (sums.seeds / seconds()).toFixed(1);
  const text = `${sums.seeds} of ${count} seeds, ${failed.length} failed, ${pace} a second`;
  if (isTTY) process.stdout.write(`\r${text} `);
  else console.log(text);
}

async function failure(result: RunResult, options: PlanOptions): Promise<void> {
  console.log(report(result, options));
  if (!values.shrink) return;
  const small = await shrink(result.plan.seed, options);
  console.log('Shrunk:');
  console.log(report(small.result, small.options));
}

await main();
