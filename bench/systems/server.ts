/** A server program as a child: started, waited for, killed. */
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithUs } from '../support/end-with-us.ts';

const limitMs = 120_000;
const pollMs = 20;
const outputLengthMax = 4000;

export class Server {
  private readonly child: ChildProcess;
  private output = '';

  constructor(path: string, args: readonly string[], options: SpawnOptions = {}) {
    this.child = spawn(path, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    endWithUs(this.child);
    const keep = (chunk: Buffer): void => {
      this.output = (this.output + String(chunk)).slice(-outputLengthMax);
    };
    this.child.stdout?.on('data', keep);
    this.child.stderr?.on('data', keep);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Asks again and again until the answer is yes. */
  async until(isReady: () => Promise<boolean>): Promise<void> {
    for (const endMs = performance.now() + limitMs; performance.now() < endMs; ) {
      if (this.child.exitCode !== null) break;
      if (await isReady().catch(() => false)) return;
      await sleep(pollMs);
    }
    await this.end('SIGKILL');
    throw new Error(`A server did not start:\n${this.output}`);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
