/** The real binary as a child process, run from its sources, or from the bundle that `npm test` makes of them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const { PATH, NODE_COMPILE_CACHE, BUNDLED_COMMAND } = process.env;
const main = BUNDLED_COMMAND ?? join(import.meta.dirname, '../../packages/cli/src/main.ts');

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A line of standard output, where it is a JSON object. */
export type JsonLine = Readonly<Record<string, unknown>>;

interface CliProcessOptions {
  readonly input?: 'ignore' | 'pipe';
  /** The file to run; default: the one of this repository. */
  readonly program?: string;
}

export class CliProcess {
  readonly ended: Promise<Ended>;
  readonly lines: string[] = [];
  readonly errors: string[] = [];
  private readonly child: ChildProcess;
  private readonly watchers = new Set<() => void>();

  /** `via`: a command to run it with, such as `ip netns exec NAME`. */
  constructor(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    via: readonly string[] = [],
    { input = 'ignore', program = main }: CliProcessOptions = {},
  ) {
    const run = [process.execPath, '--conditions=source', program, ...args];
    const [command = process.execPath, ...rest] = via.length === 0 ? run : [...via, ...run];
    this.child = spawn(command, rest, {
      stdio: [input, 'pipe', 'pipe'],
      env: { PATH, NODE_COMPILE_CACHE, ...env },
    });
    const { stdout, stderr } = this.child;
    if (stdout !== null) createInterface({ input: stdout }).on('line', (line) => this.took(line));
    if (stderr !== null) {
      createInterface({ input: stderr }).on('line', (line) => this.errors.push(line));
    }
    this.ended = new Promise((resolve) => {
      // `close` comes after the last line, `exit` may come before it.
      this.child.on('close', (code, signal) => {
        resolve({ code, signal });
        for (const look of this.watchers) look();
      });
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** To its standard input, which must be a pipe. */
  type(text: string): void {
    this.child.stdin?.write(text);
  }

  /** Sends a signal and waits for the end. */
  async kill(signal: NodeJS.Signals): Promise<Ended> {
    this.child.kill(signal);
    return this.ended;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** The first line of output that fits; rejects when the process ends before. */
  async line(fits: (line: JsonLine) => boolean): Promise<JsonLine> {
    const find = (): JsonLine | undefined => this.json().find(fits);
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`The process ended first:\n${[...this.lines, ...this.errors].join('\n')}`);
      }
      await this.change();
    }
  }

  json(): JsonLine[] {
    return this.lines.flatMap((line) => {
      try {
        return [JSON.parse(line) as JsonLine];
      } catch {
        return [];
      }
    });
  }

  private took(line: string): void {
    this.lines.push(line);
    for (const look of this.watchers) look();
  }

  private change(): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        this.watchers.delete(look);
        resolve();
      };
      this.watchers.add(look);
    });
  }
}

export interface ServedMember {
  readonly process: CliProcess;
  readonly url: string;
}

/** A member on a free port of loopback, serving. */
export async function serve(args: readonly string[]): Promise<ServedMember> {
  const member = new CliProcess(['serve', '--json', '--listen', '127.0.0.1:0', ...args]);
  const { url } = await member.line((line) => typeof line['url'] === 'string');
  return { process: member, url: url as string };
}
