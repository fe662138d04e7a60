/** Makes a failing plan smaller while it still fails: fewer faults, fewer timers, a shorter run. */
import { drawPlan, type PlanOptions } from './plan.ts';
import { type RunResult, runPlan } from './run.ts';

const runsMax = 200;

export interface Shrunk {
  readonly options: PlanOptions;
  readonly result: RunResult;
}

export async function shrink(seed: number, from: PlanOptions): Promise<Shrunk> {
  const plan = drawPlan(seed, from);
  const all = (length: number): number[] => Array.from({ length }, (_, i) => i);
  let options: PlanOptions = {
    ...from,
    timers: from.timers ?? all(plan.timers.length),
    faults: from.faults ?? all(plan.faults.length),
  };
  let result = await runPlan(plan);
  const promise = result.violations[0]?.promise;
  let left = runsMax;
  const tried = async (candidate: PlanOptions): Promise<boolean> => {
    if (left-- <= 0) return false;
    const outcome = await runPlan(drawPlan(seed, candidate));
    if (outcome.violations[0]?.promise !== promise) return false;
    options = candidate;
    result = outcome;
    return true;
  };
  for (const part of ['faults', 'timers'] as const) {
    for (
      let size = Math.ceil((options[part]?.length ?? 0) / 2);
      size >= 1;
      size = Math.floor(size / 2)
    ) {
      for (let at = 0; at < (options[part]?.length ?? 0); ) {
        const kept = (options[part] ?? []).toSpliced(at, size);
        if (!(await tried({ ...options, [part]: kept }))) at += size;
      }
    }
  }
  return { options, result };
}
