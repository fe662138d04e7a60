/** A redis-server of its own on a free port of loopback. */
import { Redis } from 'ioredis';
import { freePort, Server } from './server.ts';

/** `everysec`: the append-only file is synced once a second; `none`: nothing is written. */
export type Persistence = 'everysec' | 'none';

const files = {
  everysec: ['--appendonly', 'yes', '--appendfsync', 'everysec'],
  none: ['--appendonly', 'no'],
} as const;

/** As Redis's page on memory says: a job then stays in one block although its payload is over 64 bytes. */
const compact = ['--hash-max-listpack-value', '128'];

export interface RedisOptions {
  readonly path: string;
  readonly folder: string;
  readonly persistence: Persistence;
}

export class RedisServer {
  readonly port: number;
  private readonly options: RedisOptions;
  private server: Server;

  private constructor(options: RedisOptions, port: number) {
    this.options = options;
    this.port = port;
    this.server = this.spawn();
  }

  static async start(options: RedisOptions): Promise<RedisServer> {
    const redis = new RedisServer(options, await freePort());
    await redis.ready();
    return redis;
  }

  get pid(): number {
    return this.server.pid;
  }

  /** Jobs that wait for their time. */
  pending(queue: string): Promise<number> {
    return this.ask((client) => client.zcard(`bull:${queue}:delayed`));
  }

  async restart(): Promise<number> {
    await this.server.end('SIGKILL');
    const startMs = performance.now();
    this.server = this.spawn();
    await this.ready();
    return (performance.now() - startMs) / 1000;
  }

  stop(): Promise<void> {
    return this.server.end('SIGKILL');
  }

  private spawn(): Server {
    const { path, folder, persistence } = this.options;
    const base = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', folder];
    return new Server(path, [...base, ...compact, '--save', '', ...files[persistence]]);
  }

  /** While it reads its file it answers with an error. */
  private ready(): Promise<void> {
    return this.server.until(() => this.ask(async (client) => (await client.ping()) === 'PONG'));
  }

  private async ask<T>(question: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis({
      port: this.port,
      lazyConnect: true,
      enableReadyCheck: false,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      return await question(client);
    } finally {
      client.disconnect();
    }
  }
}
