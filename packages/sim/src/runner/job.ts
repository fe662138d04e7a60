/** The job of a thread: how it draws plans, and the variant that breaks its members. */
import { variants } from '../broken/variants.ts';
import { drawPlan, type PlanOptions } from '../plan.ts';
import { type RunResult, runPlan } from '../run.ts';

export interface Job {
  readonly options: PlanOptions;
  readonly trace: boolean;
  /** The name of a variant to break the members with; null: none. */
  readonly broken: string | null;
}

/** Breaks the members of this thread, where the job asks for it, for as long as the thread lives. */
export function beginJob({ broken }: Job): void {
  variants.find(({ name }) => name === broken)?.apply();
}

export function runSeed(seed: number, { options, trace }: Job): Promise<RunResult> {
  return runPlan(drawPlan(seed, options), { trace });
}
