/** A thread that runs the seeds it is sent, one after the other, and sends back the result of each. */
import { parentPort, workerData } from 'node:worker_threads';
import { beginJob, type Job, runSeed } from './job.ts';

const job = workerData as Job;
const port = parentPort;
if (port === null) throw new Error('This file is started as a thread by run-seeds.ts.');

beginJob(job);
port.on('message', (seed: number) => {
  void runSeed(seed, job).then((result) => port.postMessage(result));
});
