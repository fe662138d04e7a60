/**
 * Many seeds on several threads. Results are reported in the order of the seeds, whichever thread was done first, so
 * that the same seeds give the same report on any number of threads.
 */
import { Worker } from 'node:worker_threads';
import type { RunResult } from '../run.ts';
import { beginJob, type Job, runSeed } from './job.ts';

export interface SeedRange {
  readonly first: number;
  readonly count: number;
}

/** Called with each result, in the order of the seeds; false ends the runs. */
export type OnResult = (result: RunResult) => Promise<boolean>;

/** A thread takes about as long to get going as this many seeds take to run. */
const seedsPerThreadMin = 10;

/** How many threads are worth it. */
export function jobsFor(count: number, cores: number): number {
  return Math.max(1, Math.min(cores, Math.floor(count / seedsPerThreadMin)));
}

export async function runSeeds(
  { first, count }: SeedRange,
  jobs: number,
  job: Job,
  onResult: OnResult,
): Promise<void> {
  const end = first + count;
  if (jobs > 1) return new Threads({ first, end, jobs, job, onResult }).done();
  beginJob(job);
  for (let seed = first; seed < end; seed++) {
    if (!(await onResult(await runSeed(seed, job)))) return;
  }
}

interface ThreadsOptions {
  readonly first: number;
  readonly end: number;
  readonly jobs: number;
  readonly job: Job;
  readonly onResult: OnResult;
}

/** A thread that is far ahead of the slowest waits: results that cannot be told yet are kept in memory. */
const aheadMax = 1000;

class Threads {
  private readonly options: ThreadsOptions;
  private readonly workers: Worker[] = [];
  private readonly idle: Worker[] = [];
  private readonly early = new Map<number, RunResult>();
  private nextSeed: number;
  private toldSeed: number;
  private telling = false;
  private finish: (error?: unknown) => void = () => {};

  constructor(options: ThreadsOptions) {
    this.options = options;
    this.nextSeed = options.first;
    this.toldSeed = options.first;
  }

  async done(): Promise<void> {
    const { jobs, job } = this.options;
    const over = new Promise<void>((resolve, reject) => {
      this.finish = (error) => (error === undefined ? resolve() : reject(error));
    });
    for (let i = 0; i < jobs; i++) this.add(job);
    try {
      await over;
    } finally {
      await Promise.all(this.workers.map((worker) => worker.terminate()));
    }
  }

  private add(job: Job): void {
    const file = new URL('worker.ts', import.meta.url);
    const worker = new Worker(file, { workerData: job, execArgv: ['--conditions=source'] });
    this.workers.push(worker);
    worker.on('error', (error) => this.finish(error));
    worker.on('message', (result: RunResult) => {
      this.early.set(result.plan.seed, result);
      this.idle.push(worker);
      void this.tell().catch((error: unknown) => this.finish(error));
    });
    this.idle.push(worker);
    this.feed();
  }

  private feed(): void {
    const lastSeed = Math.min(this.options.end, this.toldSeed + aheadMax);
    while (this.nextSeed < lastSeed) {
      const worker = this.idle.pop();
      if (worker === undefined) return;
      worker.postMessage(this.nextSeed++, []);
    }
  }

  /** Reports every result whose predecessors are all reported. */
  private async tell(): Promise<void> {
    this.feed();
    if (this.telling) return;
    this.telling = true;
    for (;;) {
      const result = this.early.get(this.toldSeed);
      if (result === undefined) break;
      this.early.delete(this.toldSeed++);
      const goOn = await this.options.onResult(result);
      if (!goOn || this.toldSeed === this.options.end) return this.finish();
      this.feed();
    }
    this.telling = false;
  }
}
