/** Runs `worker.ts` as a child process for a test: starts, stops, pauses and kills it, and collects its events. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { WorkerCommand, WorkerEvent, WorkerOptions } from './worker.ts';

const script = join(import.meta.dirname, 'worker.ts');
const waitMsMax = 40_000;

export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export class WorkerProcess {
  readonly events: WorkerEvent[] = [];
  readonly exited: Promise<number | null>;
  private readonly child: ChildProcess;
  private readonly listeners = new Set<(event: WorkerEvent) => void>();

  constructor(
    options: WorkerOptions,
    onEvent?: (event: WorkerEvent, worker: WorkerProcess) => void,
  ) {
    this.child = spawn(
      process.execPath,
      ['--conditions=source', '--no-warnings', script, JSON.stringify(options)],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    this.child.stdin?.on('error', () => {});
    this.exited = new Promise((resolve) => this.child.once('exit', resolve));
    process.once('exit', this.onExit);
    const lines = createInterface({ input: this.child.stdout as NodeJS.ReadableStream });
    lines.on('line', (line) => {
      const event = JSON.parse(line) as WorkerEvent;
      if (!('token' in event) || event.kind === 'granted') this.events.push(event);
      onEvent?.(event, this);
      for (const listener of this.listeners) listener(event);
    });
  }

  send(command: WorkerCommand): void {
    this.child.stdin?.write(`${JSON.stringify(command)}\n`);
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): number {
    this.child.kill(signal);
    return nowMs();
  }

  /** The first event that fits, past or future. */
  until<Kind extends WorkerEvent['kind']>(
    kind: Kind,
    fits: (event: Extract<WorkerEvent, { kind: Kind }>) => boolean = () => true,
  ): Promise<Extract<WorkerEvent, { kind: Kind }>> {
    type Wanted = Extract<WorkerEvent, { kind: Kind }>;
    const match = (event: WorkerEvent): event is Wanted =>
      event.kind === kind && fits(event as Wanted);
    const past = this.events.find(match);
    if (past !== undefined) return Promise.resolve(past);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.listeners.delete(listener);
        reject(new Error(`The worker did not tell "${kind}" within ${waitMsMax} ms.`));
      }, waitMsMax);
      const listener = (event: WorkerEvent): void => {
        if (!match(event)) return;
        clearTimeout(timer);
        this.listeners.delete(listener);
        resolve(event);
      };
      this.listeners.add(listener);
    });
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
    process.off('exit', this.onExit);
  }

  private readonly onExit = (): void => {
    this.child.kill('SIGKILL');
  };
}
