/** Jobs of graphile-worker with a `runAt` in the future: `addJob`, `addJobs` and job keys. */
import { Logger, makeWorkerUtils, type WorkerUtils } from 'graphile-worker';
import { Pool } from 'pg';
import {
  instantMs,
  payloadOf,
  queueName,
  type Recurring,
  type Setter,
  type Spec,
} from './setter.ts';

export interface GraphilePayload {
  readonly payload: string;
  readonly dueMs: number;
  /** How many more runs follow this one, and how far apart. */
  readonly more: number;
  readonly everyMs: number;
}

const connectionCountMax = 20;

/** Only what is wrong. */
export const graphileLogger = new Logger(() => (level, message) => {
  if (level === 'error') console.error(message);
});

export class GraphileSetter implements Setter {
  private readonly pool: Pool;
  private readonly jobs: WorkerUtils;

  private constructor(pool: Pool, jobs: WorkerUtils) {
    this.pool = pool;
    this.jobs = jobs;
  }

  static async open(connectionString: string): Promise<GraphileSetter> {
    const pool = new Pool({ connectionString, max: connectionCountMax });
    const tell = (error: Error): void => console.error(error.message);
    pool.on('error', tell);
    pool.on('connect', (client) => client.on('error', tell));
    const jobs = await makeWorkerUtils({ pgPool: pool, logger: graphileLogger });
    await jobs.migrate();
    return new GraphileSetter(pool, jobs);
  }

  async set({ index, due }: Spec): Promise<void> {
    const dueMs = instantMs(due);
    await this.jobs.addJob(queueName, payload(index, dueMs), { runAt: new Date(dueMs) });
  }

  async setMany(specs: readonly Spec[]): Promise<void> {
    await this.jobs.addJobs(
      specs.map(({ index, due }) => {
        const dueMs = instantMs(due);
        const runAt = new Date(dueMs);
        return { identifier: queueName, payload: payload(index, dueMs), runAt };
      }),
    );
  }

  async refresh({ index, due }: Spec): Promise<void> {
    const dueMs = instantMs(due);
    const options = { runAt: new Date(dueMs), jobKey: `t${index}` };
    await this.jobs.addJob(queueName, payload(index, dueMs), options);
  }

  /** Its crontab counts in minutes, so each run sets the next one; see the worker. */
  async recur({ index, firstMs, everyMs, count }: Recurring): Promise<void> {
    const first = { ...payload(index, firstMs), more: count - 1, everyMs };
    await this.jobs.addJob(queueName, first, { runAt: new Date(firstMs) });
  }

  async close(): Promise<void> {
    await this.jobs.release();
    await this.pool.end();
  }
}

function payload(index: number, dueMs: number): GraphilePayload {
  return { payload: payloadOf(index), dueMs, more: 0, everyMs: 0 };
}
