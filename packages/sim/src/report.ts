/** A failed run in words: the configuration, the broken promises, and the one command that shows them again. */
import type { PlanOptions } from './plan.ts';
import type { RunResult } from './run.ts';

function replayCommand(seed: number, options: PlanOptions): string {
  const parts = [`npm run sim -- --seed ${seed} --minutes ${options.minutes}`];
  if (options.dense) parts.push('--dense');
  if (options.timers !== null) parts.push(`--timers ${options.timers.join(',')}`);
  if (options.faults !== null) parts.push(`--faults '${options.faults.join(',')}'`);
  return parts.join(' ');
}

export function report(result: RunResult, options: PlanOptions): string {
  const { plan, violations } = result;
  const { seed, source, durable, tombstoneMs, delayMs, viewDelayMs } = plan;
  const { members, timers, faults } = plan;
  const configuration = {
    members: members.length,
    source,
    durable,
    tombstoneMs,
    delayMs,
    viewDelayMs,
  };
  return [
    `Seed ${seed}: ${JSON.stringify(configuration)}, ${timers.length} timers, trace ${result.hash}`,
    ...faults.map((fault) => `  ${JSON.stringify(fault)}`),
    ...violations.map(({ promise, atMs, says }) => `  ${promise} at ${atMs.toFixed(1)}: ${says}`),
    `  ${replayCommand(seed, options)}`,
  ].join('\n');
}
