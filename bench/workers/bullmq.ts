/** A worker of BullMQ that makes the callbacks. */
import { type Job, Worker } from 'bullmq';
import { Poster } from '../load/post.ts';
import { queueName } from '../load/setter.ts';
import { answerCalls } from '../support/remote.ts';

/** More does not make it faster: 64, 128 and 256 were tried. */
const concurrency = 128;

/** Finished jobs are removed, as its guide to production says; said here, it costs no memory in each job. */
answerCalls({
  work: async ({ port, uri }: { port: number; uri: string }) => {
    const poster = new Poster(uri);
    const worker = new Worker<string>(queueName, (job) => poster.post(job.data, dueMsOf(job)), {
      connection: { host: '127.0.0.1', port, maxRetriesPerRequest: null },
      concurrency,
    });
    worker.on('error', (error) => console.error(error.message));
    await worker.waitUntilReady();
  },
});

/** A job of a scheduler is called `repeat:<scheduler>:<due>`. */
function dueMsOf({ id = '', timestamp, opts }: Job<string>): number {
  const isRepeated = id.startsWith('repeat:');
  return isRepeated ? Number(id.split(':').at(-1)) : timestamp + (opts.delay ?? 0);
}
