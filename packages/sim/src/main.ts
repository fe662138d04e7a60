/** `npm run sim -- --seeds 1000 [--seed FIRST] [--minutes M]`: many runs, one line of progress, and a report of what broke. */
import { parseArgs } from 'node:util';
import { variants } from './broken.ts';
import { drawPlan, type PlanOptions, wholePlan } from './plan.ts';
import { report } from './report.ts';
import { type RunResult, runPlan } from './run.ts';
import { shrink } from './shrink.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    /** Only these timers and faults of the plan. */
    timers: { type: 'string' },
    faults: { type: 'string' },
    trace: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: false },
    /** Go on after the first failure. */
    all: { type: 'boolean', default: false },
    /** Break the members on purpose, by the name of a variant. */
    broken: { type: 'string' },
  },
});

function numbers(text: string | undefined): readonly number[] | null {
  if (text === undefined) return null;
  return text === '' ? [] : text.split(',').map(Number);
}

async function main(): Promise<void> {
  const first = Number(values.seed);
  const count = Number(values.seeds);
  const options: PlanOptions = {
    ...wholePlan,
    minutes: Number(values.minutes),
    timers: numbers(values.timers),
    faults: numbers(values.faults),
  };
  if (values.broken !== undefined) {
    const variant = variants.find(({ name }) => name === values.broken);
    if (variant === undefined) {
      throw new Error(`Variants: ${variants.map(({ name }) => name).join('; ')}.`);
    }
    variant.apply();
  }
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
