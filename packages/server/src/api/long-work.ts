/**
 * Work on requests that may take longer than a turn of the event loop should: large batches. It is written as steps,
 * each of which tells its cost; between two steps it can be left and taken up again.
 *
 * W1  Work that fits into one stint is done at once. The rest waits in line, and a turn of the event loop does one
 *     stint of it, however many requests wait: pops, peers and other clients come in between.
 * W2  Steps are counted, not timed: the same work is cut at the same places wherever it runs.
 */
import type { Clock } from '@carillon/core';

/** About a microsecond each, on the machines of our time. */
export const stintCostMax = 1000;

/** Gives the cost of each step, and in the end the result. */
export type Steps<T> = Generator<number, T, void>;

interface Job {
  /** False: there is more to do. */
  stint(): boolean;
}

export class LongWork {
  private readonly clock: Clock;
  private readonly line: Job[] = [];

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Runs the steps. An error of a step is thrown here, or rejects. */
  run<T>(steps: Steps<T>): T | Promise<T> {
    const first = stint(steps);
    if (first !== null) return first.value;
    return new Promise<T>((resolve, reject) => {
      this.add({
        stint: () => {
          try {
            const last = stint(steps);
            if (last !== null) resolve(last.value);
            return last !== null;
          } catch (error) {
            reject(error);
            return true;
          }
        },
      });
    });
  }

  private add(job: Job): void {
    this.line.push(job);
    if (this.line.length === 1) this.clock.soon(() => this.turn());
  }

  private turn(): void {
    const job = this.line.shift();
    if (job !== undefined && !job.stint()) this.line.push(job);
    if (this.line.length > 0) this.clock.soon(() => this.turn());
  }
}

/** The result, when the work was finished. */
function stint<T>(steps: Steps<T>): { readonly value: T } | null {
  for (let cost = 0; cost < stintCostMax; ) {
    const step = steps.next();
    if (step.done === true) return { value: step.value };
    cost += step.value;
  }
  return null;
}
