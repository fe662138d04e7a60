/** Delayed jobs of BullMQ: `add`, `addBulk`, `changeDelay` and job schedulers. */
import { type Job, Queue } from 'bullmq';
import {
  delayMs,
  instantMs,
  payloadOf,
  queueName,
  type Recurring,
  type Setter,
  type Spec,
} from './setter.ts';

/** Finished jobs are removed, as its guide to production says. */
const defaultJobOptions = { removeOnComplete: true, removeOnFail: true };

export interface BullmqData {
  readonly payload: string;
  readonly dueMs: number;
}

export class BullmqSetter implements Setter {
  private readonly queue: Queue;
  private readonly jobs = new Map<number, Job>();

  constructor(port: number) {
    this.queue = new Queue(queueName, {
      connection: { host: '127.0.0.1', port },
      defaultJobOptions,
    });
  }

  async set(spec: Spec): Promise<void> {
    await this.queue.add('pop', dataOf(spec), { delay: delayMs(spec.due) });
  }

  async setMany(specs: readonly Spec[]): Promise<void> {
    await this.queue.addBulk(
      specs.map((spec) => ({
        name: 'pop',
        data: dataOf(spec),
        opts: { delay: delayMs(spec.due) },
      })),
    );
  }

  async refresh(spec: Spec): Promise<void> {
    const known = this.jobs.get(spec.index);
    if (known !== undefined) return known.changeDelay(delayMs(spec.due));
    const job = await this.queue.add('pop', dataOf(spec), { delay: delayMs(spec.due) });
    this.jobs.set(spec.index, job);
  }

  /** The due time of each run stands in the job's id; see the worker. */
  async recur({ index, firstMs, everyMs, count }: Recurring): Promise<void> {
    await this.queue.upsertJobScheduler(
      `t${index}`,
      { every: everyMs, limit: count, startDate: firstMs },
      { name: 'pop', data: { payload: payloadOf(index), dueMs: 0 } satisfies BullmqData },
    );
  }

  close(): Promise<void> {
    return this.queue.close();
  }
}

function dataOf({ index, due }: Spec): BullmqData {
  return { payload: payloadOf(index), dueMs: instantMs(due) };
}
