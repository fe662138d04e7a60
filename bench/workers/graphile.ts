/** A worker of graphile-worker that makes the callbacks, and sets the next run of a recurring timer. */
import { run } from 'graphile-worker';
import { graphileLogger, type GraphilePayload } from '../load/graphile-setter.ts';
import { Poster } from '../load/post.ts';
import { queueName } from '../load/setter.ts';
import { answerCalls } from '../support/remote.ts';

/**
 * Batching as its page on performance recommends; polled twenty times as often as by default, for the sake of lateness.
 */
const concurrentJobs = 128;
const worker = {
  concurrentJobs,
  maxPoolSize: 20,
  pollInterval: 100,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};

answerCalls({
  work: async ({ connectionString, uri }: { connectionString: string; uri: string }) => {
    const poster = new Poster(uri);
    await run({
      preset: { worker: { ...worker, connectionString, logger: graphileLogger } },
      noHandleSignals: true,
      taskList: {
        [queueName]: async (given, { job, addJob }) => {
          const { payload, next } = given as GraphilePayload;
          await poster.post(payload, job.run_at.getTime());
          if (next === undefined || next.more === 0) return;
          const following = { payload, next: { ...next, more: next.more - 1 } };
          const runAt = new Date(job.run_at.getTime() + next.everyMs);
          await addJob(queueName, following, { runAt });
        },
      },
    });
  },
});
