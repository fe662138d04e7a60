/** A worker of pg-boss that makes the callbacks, and sets the next run of a recurring timer. */
import { PgBoss } from 'pg-boss';
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
      const recurring = jobs.filter(({ data }) => data.more > 0);
      if (recurring.length > 0)
        await boss.insert(
          queueName,
          recurring.map(({ data }) => nextOf(data)),
        );
    });
  },
});

function nextOf(data: PgBossData): { data: PgBossData; startAfter: Date } {
  const dueMs = data.dueMs + data.everyMs;
  return { data: { ...data, dueMs, more: data.more - 1 }, startAfter: new Date(dueMs) };
}
