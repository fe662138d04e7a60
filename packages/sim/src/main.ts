/** `npm run sim -- --seeds 1000`: many runs, one line of progress, and a report of what broke. */
import { parseArgs } from 'node:util';
import { variants } from './broken.ts';
import { drawPlan, type PlanOptions, wholePlan } from './plan.ts';
import { report } from './report.ts';
import { type RunResult, runPlan } from './run.ts';
import { shrink } from './shrink.ts';

const help = `npm run sim -- [options]

  --seeds N         how many runs (1)
  --seed N          the seed of the first (1)
  --minutes N       virtual minutes of each (10)
  --all             go on after the first that fails
  --shrink          look for a smaller plan that breaks the same promise
  --trace           every event of the runs
  --timers A,B,…    only these timers of the plan, by number
  --faults A,B,…    only these faults of the plan, by number
  --broken VARIANT  break the members on purpose, to see that somebody notices
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
        minutes: { type: 'string', default: '10' },
        timers: { type: 'string' },
        faults: { type: 'string' },
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

function breakOnPurpose(given: string): void {
  const variant = variants.find(({ name }) => name === given);
  if (variant === undefined) {
    return wrong(`--broken is one of: ${variants.map(({ name }) => name).join('; ')}.`);
  }
  variant.apply();
}

async function main(): Promise<void> {
  if (values.help) return console.log(help);
  const first = whole(values.seed, '--seed');
  const count = whole(values.seeds, '--seeds');
  const options: PlanOptions = {
    ...wholePlan,
    minutes: positive(values.minutes, '--minutes'),
    timers: wholes(values.timers, '--timers'),
    faults: wholes(values.faults, '--faults'),
  };
  if (values.broken !== undefined) breakOnPurpose(values.broken);
  const startedMs = performance.now();
  let events = 0;
  let callbacks = 0;
  const failed: number[] = [];
  for (let seed = first; seed < first + count; seed++) {
    const result = await runPlan(drawPlan(seed, options), { trace: values.trace });
    events += result.events;
    callbacks += result.callbacks;
    if (values.trace) console.log(result.lines.join('\n'));
    if (result.violations.length > 0) {
      failed.push(seed);
      await failure(result, options);
      if (!values.all) break;
    }
    progress(seed - first + 1, count, failed.length);
    if (count === 1) console.log(`trace ${result.hash}`);
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const { user, system } = process.cpuUsage();
  console.log(
    `${count} seeds, ${failed.length} failed${failed.length > 0 ? ` (${failed.join(', ')})` : ''}: ${events} events and ${callbacks} callbacks in ${seconds.toFixed(1)} s, ${Math.round((events / (user + system)) * 1e6)} events a second of CPU.`,
  );
  process.exitCode = failed.length === 0 ? 0 : 1;
}

/** One line that moves on a terminal; elsewhere a line now and then. */
function progress(done: number, count: number, failedCount: number): void {
  const text = `${done} of ${count} seeds, ${failedCount} failed`;
  if (process.stdout.isTTY) process.stdout.write(`\r${text} `);
  else if (done % 100 === 0) console.log(text);
}

async function failure(result: RunResult, options: PlanOptions): Promise<void> {
  console.log(report(result, options));
  if (!values.shrink) return;
  const small = await shrink(result.plan.seed, options);
  console.log('Shrunk:');
  console.log(report(small.result, small.options));
}

await main();
