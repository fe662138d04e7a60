/** A worker of pg-boss that makes the callbacks, and sets the next run of a recurring timer. */
import { type JobInsert, PgBoss } from 'pg-boss';
import type { PgBossData } from '../load/pg-boss-setter.ts';
import { Poster } from '../load/post.ts';
import { queueName } from '../load/setter.ts';
import { answerCalls } from '../support/remote.ts';

/** The shortest polling interval it allows, large batches, and no pause while batches are full. */
const options = {
  pollingIntervalSeconds: 0.5,
  batchSize: 500,
  burstWhenBatchFull: true,
  localConcurrency: 2,
};

answerCalls({
  work: async ({ connectionString, uri }: { connectionString: string; uri: string }) => {
    const poster = new Poster(uri);
    const boss = new PgBoss({ connectionString });
    boss.on('error', (error) => console.error(error.message));
    await boss.start();
    await boss.work<PgBossData>(queueName, options, async (jobs) => {
      await Promise.all(jobs.map(({ data }) => poster.post(data.payload, data.dueMs)));
      const following = jobs.flatMap(({ data }) => nextOf(data));
      if (following.length > 0) await boss.insert(queueName, following);
    });
  },
});

function nextOf({ payload, dueMs, next }: PgBossData): JobInsert<PgBossData>[] {
  if (next === undefined || next.more === 0) return [];
  const { more, everyMs } = next;
  const data = { payload, dueMs: dueMs + everyMs, next: { more: more - 1, everyMs } };
  return [{ data, startAfter: new Date(data.dueMs) }];
}
