/** nginx and haproxy as they stand in front of a member: one port for clients, few kept connections behind it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { listening } from '../../e2e/support/listening.ts';

interface Ports {
  /** Where clients come. */
  readonly front: number;
  /** Where requests go. */
  readonly behind: number;
}

interface ProxyKind {
  readonly args: (file: string) => readonly string[];
  readonly config: (ports: Ports, folder: string) => string;
  /** Of the lines of its log, requests that it passed on. */
  readonly passedOn: (line: string) => boolean;
}

/** A client that ends its side is answered all the same, and a request is passed on once, or not at all. */
const nginx: ProxyKind = {
  args: (file) => ['-c', file, '-e', 'stderr'],
  config: ({ front, behind }, folder) => `
    daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error warn;
    events { worker_connections 512; }
    http {
      log_format passed '$upstream_addr $request';
      access_log ${folder}/log passed;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${folder}/${one};`).join(' ')}
      upstream member { server 127.0.0.1:${behind}; keepalive 8; }
      server {
        listen 127.0.0.1:${front};
        client_header_timeout 5s; client_body_timeout 5s; client_max_body_size 0; ignore_invalid_headers off; underscores_in_headers on;
        location / {
          proxy_pass http://member;
          proxy_http_version 1.1; proxy_set_header Connection ''; proxy_set_header Host $host;
          proxy_request_buffering off; proxy_next_upstream off; proxy_ignore_client_abort on;
        }
      }
    }`,
  passedOn: (line) => !line.startsWith('- '),
};

const haproxy: ProxyKind = {
  args: (file) => ['-db', '-f', file],
  config: ({ front, behind }) =>
    [
      'global',
      '  log stdout format raw local0',
      'defaults',
      '  mode http',
      '  log global',
      '  log-format "%s %r"',
      '  retries 0',
      '  timeout connect 5s',
      '  timeout client 5s',
      '  timeout http-keep-alive 60s',
      '  timeout server 30s',
      'listen member',
      `  bind 127.0.0.1:${front}`,
      '  http-reuse always',
      `  server one 127.0.0.1:${behind} pool-max-conn 2 maxconn 4`,
      '',
    ].join('\n'),
  passedOn: (line) => line.startsWith('one '),
};

export const proxyKinds = { nginx, haproxy };

export class Proxy {
  readonly port: number;
  private readonly kind: ProxyKind;
  private readonly child: ChildProcess;
  private readonly ended: Promise<unknown>;
  private readonly folder: string;
  private said = '';

  private constructor(
    kind: ProxyKind,
    child: ChildProcess,
    place: { folder: string; port: number },
  ) {
    this.kind = kind;
    this.child = child;
    this.folder = place.folder;
    this.port = place.port;
    this.ended = new Promise((resolve) => child.once('close', resolve));
    child.stdout?.on('data', (bytes: Buffer) => {
      this.said += bytes.toString('latin1');
    });
  }

  /** Takes connections when this resolves. */
  static async start(program: string, kind: ProxyKind, behind: number): Promise<Proxy> {
    const folder = await mkdtemp(join(tmpdir(), 'carillon-proxy-'));
    const front = await freePort();
    const file = join(folder, 'config');
    writeFileSync(file, kind.config({ front, behind }, folder));
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    const child = spawn(program, kind.args(file), { stdio: [...stdio] });
    const proxy = new Proxy(kind, child, { folder, port: front });
    await proxy.listens();
    return proxy;
  }

  /** Requests that it passed on, as it read them. */
  passedOn(): string[] {
    return this.log().filter(this.kind.passedOn);
  }

  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.ended;
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  private log(): string[] {
    const text = this.kind === nginx ? readFileSync(join(this.folder, 'log'), 'latin1') : this.said;
    return text.split('\n').filter((line) => line !== '');
  }

  private async listens(): Promise<void> {
    while (!(await isOpen(this.port))) {
      if (this.child.exitCode !== null) throw new Error('The proxy ended at its start.');
      await wait(50);
    }
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

/** One that was free a moment ago: neither program tells which one it was given. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
