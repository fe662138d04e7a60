/** One member of `carillon dev`: a child process, its log made readable, its end told. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { readLogLine } from '../terminal/log-line.ts';
import { oneLine } from '../terminal/style.ts';

export interface DevMemberOptions {
  readonly name: string;
  /** `host:port` of the API. */
  readonly address: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

const readyMs = 20_000;
const stopMs = 15_000;

export class DevMember {
  readonly name: string;
  readonly url: string;
  private readonly child: ChildProcess;
  private readonly ended: Promise<void>;
  private running = true;
  private stopping = false;

  constructor(options: DevMemberOptions, tell: (line: string, shared: string | null) => void) {
    this.name = options.name;
    this.url = `http://${options.address}`;
    const main = import.meta.filename.replace(/member[/\\]dev-member\.(ts|js)$/, 'main.$1');
    this.child = spawn(process.execPath, [...process.execArgv, main, ...options.args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...options.env },
      // Ctrl-C in a terminal goes to the whole group: the members are told to stop by `stop` instead.
      detached: true,
    });
    const { stdout, stderr } = this.child;
    if (stdout !== null)
      createInterface({ input: stdout }).on('line', (line) => {
        const { text, shared } = readLogLine(line);
        tell(text, shared);
      });
    // `dev` itself tells the welcome of each member; every other line here is trouble.
    if (stderr !== null) {
      createInterface({ input: stderr }).on('line', (line) => {
        if (!isWelcome(line)) tell(oneLine(line), null);
      });
    }
    this.ended = new Promise((resolve) => {
      this.child.on('error', () => resolve());
      this.child.on('exit', (code, signal) => {
        this.running = false;
        if (!this.stopping) {
          const how = signal ?? `exit code ${code}`;
          tell(`ended (${how}). Type ${this.name} and Enter to start it again.`, null);
        }
        resolve();
      });
    });
  }

  get isRunning(): boolean {
    return this.running;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Whether it serves; false when it ended or takes too long. */
  async ready(signal: AbortSignal): Promise<boolean> {
    const endMs = Date.now() + readyMs;
    while (this.running && Date.now() < endMs && !signal.aborted) {
      const answer = await fetch(`${this.url}/readyz`).catch(() => null);
      await answer?.arrayBuffer();
      if (answer?.ok === true) return this.running;
      await sleep(50);
    }
    return false;
  }

  /** Lets it finish requests and callbacks under way, up to a limit. */
  async stop(): Promise<void> {
    this.stopping = true;
    if (!this.running) return;
    this.child.kill('SIGTERM');
    const impatience = setTimeout(() => this.child.kill('SIGKILL'), stopMs);
    await this.ended;
    clearTimeout(impatience);
  }
}

function isWelcome(line: string): boolean {
  return /serves at http|^The dashboard is at |^Try it:|^ {2}curl /.test(line);
}
