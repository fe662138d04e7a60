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
  /** Recurring: how many more runs follow this one, and how far apart. */
  readonly next?: { readonly more: number; readonly everyMs: number };
}

const connectionCountMax = 20;

/** Logs errors only. */
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
    await this.jobs.addJob(queueName, payload(index), { runAt: new Date(instantMs(due)) });
  }

  async setMany(specs: readonly Spec[]): Promise<void> {
    await this.jobs.addJobs(
      specs.map(({ index, due }) => {
        const runAt = new Date(instantMs(due));
        return { identifier: queueName, payload: payload(index), runAt };
      }),
    );
  }

  async refresh({ index, due }: Spec): Promise<void> {
    const options = { runAt: new Date(instantMs(due)), jobKey: `t${index}` };
    await this.jobs.addJob(queueName, payload(index), options);
  }

  /** Its crontab counts in minutes, so each run sets the next one; see the worker. */
  async recur({ index, firstMs, everyMs, count }: Recurring): Promise<void> {
    const first = { ...payload(index), next: { more: count - 1, everyMs } };
    await this.jobs.addJob(queueName, first, { runAt: new Date(firstMs) });
  }

  async close(): Promise<void> {
    await this.jobs.release();
    await this.pool.end();
  }
}

function payload(index: number): GraphilePayload {
  return { payload: payloadOf(index) };
}
