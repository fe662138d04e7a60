/** BullMQ on a Redis of its own, with and without an append-only file. */
import { join } from 'node:path';
import { queueName } from '../load/setter.ts';
import { Remote } from '../support/remote.ts';
import { program } from './install.ts';
import { type Persistence, RedisServer } from './redis.ts';
import type { Running, StartOptions, System } from './system.ts';

const worker = join(import.meta.dirname, '../workers/bullmq.ts');
let path = '';

async function prepare(): Promise<string | null> {
  const found = await program('redis-server', 'redis-server');
  if ('missing' in found) return found.missing;
  path = found.path;
  return null;
}

async function start(options: StartOptions, persistence: Persistence): Promise<Running> {
  const { folder, uri } = options;
  const redis = await RedisServer.start({ path, folder, persistence });
  const workers: Remote[] = [];
  const endWorkers = async (): Promise<void> => {
    for (const remote of workers.splice(0)) await remote.end();
  };
  return {
    pids: () => [redis.pid, ...workers.map(({ pid }) => pid)],
    setter: { kind: 'bullmq', port: redis.port },
    work: async () => {
      const remote = new Remote(worker);
      workers.push(remote);
      await remote.call('work', { port: redis.port, uri });
    },
    settle: async () => {},
    pending: () => redis.pending(queueName),
    restart:
      persistence === 'none'
        ? null
        : async () => {
            await endWorkers();
            return redis.restart();
          },
    stop: async () => {
      await endWorkers();
      await redis.stop();
    },
  };
}

export const bullmq: System = {
  name: 'bullmq',
  label: 'BullMQ, Redis with AOF',
  kind: 'peer',
  prepare,
  start: (options) => start(options, 'everysec'),
};

export const bullmqWithoutFile: System = {
  name: 'bullmq-noaof',
  label: 'BullMQ, Redis in memory',
  kind: 'peer',
  prepare,
  start: (options) => start(options, 'none'),
};
