/** A Node server as a process of its own, such as a member. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundleCommand } from '../../scripts/release/bundled-command.ts';
import { endWithUs } from './end-with-us.ts';

const bundleFolder = join(import.meta.dirname, '../../node_modules/.cache/carillon-bench-command');
let bundled: string | undefined = process.env['BUNDLED_COMMAND'];

/** Members start from a few files, as installed ones do: the sources take three times as long to load. */
function command(): string {
  bundled ??= bundleCommand(bundleFolder, 'clone');
  return bundled;
}

export class ServerProcess {
  readonly url: URL;
  private readonly child: ChildProcess;

  private constructor(child: ChildProcess, url: URL) {
    this.child = child;
    this.url = url;
  }

  /** `carillon serve` with the flags. */
  static member(flags: readonly string[]): Promise<ServerProcess> {
    return ServerProcess.start(command(), ['serve', '--json', '--log-level', 'warn', ...flags]);
  }

  /** Runs a script that prints `{"url": …}` once it serves, and resolves then. */
  static async start(
    script: string,
    args: readonly string[] = [],
    nodeFlags: readonly string[] = [],
  ): Promise<ServerProcess> {
    const flags = ['--conditions=source', ...nodeFlags, script, ...args];
    const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
    endWithUs(child);
    for await (const line of createInterface({ input: child.stdout })) {
      const { url } = JSON.parse(line) as { url?: string };
      if (url !== undefined) return new ServerProcess(child, new URL(url));
    }
    throw new Error(`The server ended before it served, with ${child.exitCode}.`);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill(signal);
    await exited;
  }
}
