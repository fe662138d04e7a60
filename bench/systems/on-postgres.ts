/** pg-boss and graphile-worker, each on a PostgreSQL of its own. */
import { join } from 'node:path';
import { Remote } from '../support/remote.ts';
import { program } from './install.ts';
import { PostgresServer } from './postgres.ts';
import type { Running, StartOptions, System } from './system.ts';

interface Kind {
  readonly setter: 'pg-boss' | 'graphile';
  readonly worker: string;
  /** Jobs that wait for their time. */
  readonly pending: string;
}

const pgBossKind: Kind = {
  setter: 'pg-boss',
  worker: join(import.meta.dirname, '../workers/pg-boss.ts'),
  pending: `SELECT count(*)::int AS count FROM pgboss.job WHERE state = 'created'`,
};
const graphileKind: Kind = {
  setter: 'graphile',
  worker: join(import.meta.dirname, '../workers/graphile.ts'),
  pending: 'SELECT count(*)::int AS count FROM graphile_worker.jobs',
};
let path = '';

async function prepare(): Promise<string | null> {
  const found = await program('postgres', 'postgresql');
  if ('missing' in found) return found.missing;
  path = found.path;
  return null;
}

async function start({ folder, uri }: StartOptions, kind: Kind): Promise<Running> {
  const postgres = await PostgresServer.start(path, folder);
  const { connectionString } = postgres;
  const workers: Remote[] = [];
  const endWorkers = async (): Promise<void> => {
    for (const remote of workers.splice(0)) await remote.end();
  };
  return {
    pids: () => [postgres.pid, ...workers.map(({ pid }) => pid)],
    setter: { kind: kind.setter, connectionString },
    work: async () => {
      const remote = new Remote(kind.worker);
      workers.push(remote);
      await remote.call('work', { connectionString, uri });
    },
    settle: () => postgres.settle(),
    pending: async () => (await postgres.query<{ count: number }>(kind.pending))[0]?.count ?? 0,
    restart: async () => {
      await endWorkers();
      return postgres.restart();
    },
    stop: async () => {
      await endWorkers();
      await postgres.stop();
    },
  };
}

export const pgBoss: System = {
  name: 'pg-boss',
  label: 'pg-boss, PostgreSQL',
  kind: 'peer',
  prepare,
  start: (options) => start(options, pgBossKind),
};

export const graphile: System = {
  name: 'graphile',
  label: 'graphile-worker, PostgreSQL',
  kind: 'peer',
  prepare,
  start: (options) => start(options, graphileKind),
};
