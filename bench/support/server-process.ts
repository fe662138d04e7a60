/** A server as a process of its own, with its CPU time and memory as the kernel counts them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const main = join(import.meta.dirname, '../../packages/cli/src/main.ts');
/** Of the counters in /proc, on every Linux that Node runs on. */
const ticksPerSecond = 100;

export class ServerProcess {
  readonly url: URL;
  private readonly child: ChildProcess;

  private constructor(child: ChildProcess, url: URL) {
    this.child = child;
    this.url = url;
  }

  /** `carillon serve` with the flags. */
  static member(flags: readonly string[]): Promise<ServerProcess> {
    return ServerProcess.start(main, ['serve', '--json', '--log-level', 'warn', ...flags]);
  }

  /** Runs a script that prints `{"url": …}` once it serves, and resolves then. */
  static async start(script: string, args: readonly string[] = []): Promise<ServerProcess> {
    const child = spawn(process.execPath, ['--conditions=source', script, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: child.stdout })) {
      const { url } = JSON.parse(line) as { url?: string };
      if (url !== undefined) return new ServerProcess(child, new URL(url));
    }
    throw new Error(`The server ended before it served, with ${child.exitCode}.`);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** CPU time so far, user and system, all threads. */
  cpuMs(): number {
    const stat = readFileSync(`/proc/${this.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
  }

  rssBytes(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill(signal);
    await exited;
  }
}
