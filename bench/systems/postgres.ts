/**
 * A PostgreSQL of its own on a free port of loopback, with the settings that its manual recommends for a server with
 * much memory.
 */
import { execFile, execFileSync } from 'node:child_process';
import { chmod, chown, cp, mkdtemp } from 'node:fs/promises';
import { totalmem, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { isRunning, processTree } from '../support/process-tree.ts';
import { freePort, Server } from './server.ts';

const run = promisify(execFile);
const mib = 2 ** 20;
const pollMs = 20;

/** A quarter of the memory, as its manual says; synced before each commit is confirmed, as it comes. */
const settings = {
  shared_buffers: `${Math.floor(totalmem() / 4 / mib)}MB`,
  max_wal_size: '4GB',
  max_connections: '200',
  listen_addresses: '127.0.0.1',
};

/** It refuses to run as root. */
interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

export class PostgresServer {
  readonly connectionString: string;
  private readonly binary: string;
  private readonly folder: string;
  private readonly port: number;
  private server: Server;

  private constructor(binary: string, folder: string, port: number) {
    this.binary = binary;
    this.folder = folder;
    this.port = port;
    this.connectionString = `postgres://bench@127.0.0.1:${port}/postgres`;
    this.server = this.spawn();
  }

  static async start(binary: string, folder: string): Promise<PostgresServer> {
    const data = join(folder, 'postgres');
    await cp(await template(binary), data, { recursive: true });
    await chmod(data, 0o700);
    await giveAway(data);
    const postgres = new PostgresServer(binary, data, await freePort());
    await postgres.ready();
    return postgres;
  }

  get pid(): number {
    return this.server.pid;
  }

  async query<T extends object>(text: string): Promise<T[]> {
    const client = new Client({ connectionString: this.connectionString });
    client.on('error', () => {});
    await client.connect();
    try {
      const { rows } = await client.query<T>(text);
      return rows;
    } finally {
      await client.end();
    }
  }

  /** Does the later work of autovacuum and the checkpointer at once. */
  async settle(): Promise<void> {
    await this.query('VACUUM ANALYZE');
    await this.query('CHECKPOINT');
  }

  async restart(): Promise<number> {
    const all = processTree([this.server.pid]);
    await this.server.end('SIGKILL');
    // It does not start while one of its children still has the memory they share.
    while (all.some(isRunning)) await sleep(pollMs);
    const startMs = performance.now();
    this.server = this.spawn();
    await this.ready();
    return (performance.now() - startMs) / 1000;
  }

  /** SIGINT: at once, even with clients connected. */
  stop(): Promise<void> {
    return this.server.end('SIGINT');
  }

  private spawn(): Server {
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const args = ['-D', this.folder, '-p', String(this.port), '-k', this.folder, ...flags];
    return new Server(this.binary, args, account());
  }

  private ready(): Promise<void> {
    return this.server.until(async () => (await this.query('SELECT 1')).length === 1);
  }
}

let made: Promise<string> | null = null;

/** A fresh cluster, made once and copied for each start. */
function template(binary: string): Promise<string> {
  made ??= makeTemplate(binary);
  return made;
}

async function makeTemplate(binary: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-postgres-'));
  process.on('exit', () => execFileSync('rm', ['-rf', folder]));
  await giveAway(folder);
  const initdb = join(dirname(binary), 'initdb');
  const args = [
    '-D',
    join(folder, 'data'),
    '-U',
    'bench',
    '-A',
    'trust',
    '--locale=C',
    '-E',
    'UTF8',
  ];
  await run(initdb, args, { ...account(), cwd: folder });
  return join(folder, 'data');
}

function account(): Account {
  if (process.getuid?.() !== 0) return {};
  const number = (flag: string): number =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: number('-u'), gid: number('-g') };
}

async function giveAway(folder: string): Promise<void> {
  const { uid, gid } = account();
  if (uid === undefined || gid === undefined) return;
  await chown(folder, uid, gid);
  await run('chown', ['-R', `${uid}:${gid}`, folder]);
}
