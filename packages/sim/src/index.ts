/** Public surface of this package. */
export { drawPlan, type Plan, type PlanOptions, wholePlan } from './plan.ts';
export { report } from './report.ts';
export { type RunResult, runPlan } from './run.ts';
export { shrink } from './shrink.ts';
