/** Delayed jobs of BullMQ: `add`, `addBulk`, `changeDelay` and job schedulers. */
import { type Job, Queue } from 'bullmq';
import { delayMs, payloadOf, queueName, type Recurring, type Setter, type Spec } from './setter.ts';

export class BullmqSetter implements Setter {
  private readonly queue: Queue;
  private readonly jobs = new Map<number, Job>();

  constructor(port: number) {
    this.queue = new Queue(queueName, { connection: { host: '127.0.0.1', port } });
  }

  async set(spec: Spec): Promise<void> {
    await this.queue.add('pop', payloadOf(spec.index), optionsOf(spec));
  }

  async setMany(specs: readonly Spec[]): Promise<void> {
    await this.queue.addBulk(
      specs.map((spec) => ({
        name: 'pop',
        data: payloadOf(spec.index),
        opts: optionsOf(spec),
      })),
    );
  }

  async refresh(spec: Spec): Promise<void> {
    const known = this.jobs.get(spec.index);
    if (known !== undefined) return known.changeDelay(delayMs(spec.due));
    const job = await this.queue.add('pop', payloadOf(spec.index), optionsOf(spec));
    this.jobs.set(spec.index, job);
  }

  /** The due time of each run stands in the job's id; see the worker. */
  async recur({ index, firstMs, everyMs, count }: Recurring): Promise<void> {
    await this.queue.upsertJobScheduler(
      `t${index}`,
      { every: everyMs, limit: count, startDate: firstMs },
      { name: 'pop', data: payloadOf(index) },
    );
  }

  close(): Promise<void> {
    return this.queue.close();
  }
}

/** Time stamp and delay together are the due time. */
function optionsOf({ due }: Spec): { timestamp: number; delay: number } {
  const timestamp = Date.now();
  return { timestamp, delay: 'inMs' in due ? due.inMs : Math.max(0, due.atMs - timestamp) };
}
