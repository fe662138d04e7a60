/** Jobs of pg-boss with a start in the future: `send`, `insert` and `update`. */
import { randomUUID } from 'node:crypto';
import { type JobInsert, PgBoss } from 'pg-boss';
import {
  instantMs,
  payloadOf,
  queueName,
  type Recurring,
  type Setter,
  type Spec,
} from './setter.ts';

export interface PgBossData {
  readonly payload: string;
  readonly dueMs: number;
  /** Recurring: how many more runs follow this one, and how far apart. */
  readonly next?: { readonly more: number; readonly everyMs: number };
}

export class PgBossSetter implements Setter {
  private readonly boss: PgBoss;
  private readonly ids = new Map<number, string>();

  private constructor(boss: PgBoss) {
    this.boss = boss;
  }

  static async open(connectionString: string): Promise<PgBossSetter> {
    const boss = new PgBoss({ connectionString, max: 20, supervise: false, schedule: false });
    boss.on('error', (error) => console.error(error));
    await boss.start();
    if ((await boss.getQueue(queueName)) === null) await boss.createQueue(queueName);
    return new PgBossSetter(boss);
  }

  async set({ index, due }: Spec): Promise<void> {
    const dueMs = instantMs(due);
    await this.boss.send(queueName, dataOf(index, dueMs), { startAfter: new Date(dueMs) });
  }

  async setMany(specs: readonly Spec[]): Promise<void> {
    await this.boss.insert(
      queueName,
      specs.map(({ index, due }) => jobOf(index, instantMs(due))),
    );
  }

  async refresh({ index, due }: Spec): Promise<void> {
    const startAfter = new Date(instantMs(due));
    const known = this.ids.get(index);
    if (known !== undefined) {
      await this.boss.update(queueName, undefined, { id: known, startAfter });
      return;
    }
    const id = randomUUID();
    await this.boss.send(queueName, dataOf(index, startAfter.getTime()), { id, startAfter });
    this.ids.set(index, id);
  }

  /** Its schedules count in minutes, so each run sets the next one; see the worker. */
  async recur({ index, firstMs, everyMs, count }: Recurring): Promise<void> {
    const data = { ...dataOf(index, firstMs), next: { more: count - 1, everyMs } };
    await this.boss.send(queueName, data, { startAfter: new Date(firstMs) });
  }

  close(): Promise<void> {
    return this.boss.stop({ graceful: false });
  }
}

function dataOf(index: number, dueMs: number): PgBossData {
  return { payload: payloadOf(index), dueMs };
}

function jobOf(index: number, dueMs: number): JobInsert<PgBossData> {
  return { data: dataOf(index, dueMs), startAfter: new Date(dueMs) };
}
