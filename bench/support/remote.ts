/**
 * A helper process that answers calls: the parent holds a `Remote`, the child offers its calls with `answerCalls`.
 * Load, workers and receiver are processes of their own, so that each one's CPU can be told from the others'.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

type Handlers = Readonly<Record<string, (argument: never) => unknown>>;

interface RemoteCall {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

interface WaitingAnswer {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const exitMs = 10_000;

export class Remote {
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, WaitingAnswer>();
  private nextId = 0;

  /** The script calls `answerCalls`. */
  constructor(script: string, args: readonly string[] = []) {
    this.child = fork(script, [...args], {
      execArgv: ['--conditions=source', '--expose-gc'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.child.on('message', (answer: Answer) => this.settle(answer));
    this.child.on('exit', (code) => {
      for (const waiting of this.waiting.values()) {
        waiting.reject(new Error(`${script} ended with ${code} before it answered.`));
      }
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  call<T = void>(name: string, argument: unknown = null): Promise<T> {
    const id = this.nextId++;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve: (value) => resolve(value as T), reject });
      this.child.send({ id, name, argument } satisfies RemoteCall);
    });
  }

  async end(): Promise<void> {
    const { child } = this;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill();
    const ended = await Promise.race([exited, sleep(exitMs, null)]);
    if (ended === null) child.kill('SIGKILL');
    await exited;
  }

  private settle({ id, value, error }: Answer): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(error));
  }
}

/** In the child: each handler is a call that the parent can make. */
export function answerCalls(handlers: Handlers): void {
  process.on('message', ({ id, name, argument }: RemoteCall) => {
    const handler = handlers[name];
    const run = async (): Promise<unknown> => {
      if (handler === undefined) throw new Error(`There is no call ${name} here.`);
      return handler(argument as never);
    };
    run().then(
      (value) => process.send?.({ id, value } satisfies Answer),
      (error: unknown) => process.send?.({ id, error: textOf(error) } satisfies Answer),
    );
  });
  process.on('disconnect', () => process.exit(0));
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
