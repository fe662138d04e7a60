/**
 * Five workers add to twenty numbers, each under its lock, while a nemesis stops and kills workers and
 * etcds. The numbers are kept by a store in this process, which may or may not compare tokens. Used by the
 * history test and by the soak.
 *
 * What the checker looks for:
 *   lost updates   an acknowledged addition that is not in the number any more
 *   order          steps that were preceded by `assertValid` carry tokens that never fall, in real time
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SeededRandom } from '@carillon/core/testing';
import type { WorkerEvent } from './worker.ts';
import { WorkerProcess } from './worker-process.ts';

/** What the nemesis may do to etcd. */
export interface NemesisCluster {
  readonly size: number;
  readonly endpoints: readonly string[];
  kill(index: number): Promise<void>;
  launch(index: number): void;
  pause(index: number): void;
  resume(index: number): void;
}

export type Fault = 'stop-worker' | 'stop-inside' | 'kill-worker' | 'kill-etcd' | 'stop-etcd';

export interface HistoryOptions {
  readonly cluster: NemesisCluster;
  readonly random: SeededRandom;
  readonly prefix: string;
  readonly durationMs: number;
  readonly faults: readonly Fault[];
  /** Whether the store refuses tokens below the largest it has seen for the key. */
  readonly storeChecksTokens: boolean;
}

export interface HistoryResult {
  readonly acknowledged: number;
  readonly refused: number;
  readonly lostUpdates: number;
  /** Steps whose token was below one that was used earlier in real time. */
  readonly disorder: number;
  readonly faults: number;
}

const workerCount = 5;
const keyCount = 20;
const ttlMs = 2000;

interface Cell {
  value: number;
  acknowledged: number;
  tokenMax: bigint;
  readonly steps: { readonly atMs: number; readonly token: bigint }[];
}

export async function runHistory(options: HistoryOptions): Promise<HistoryResult> {
  const history = new History(options);
  await history.run();
  return history.result();
}

class History {
  private readonly options: HistoryOptions;
  private readonly cells = new Map<string, Cell>();
  private readonly workers: WorkerProcess[] = [];
  private refused = 0;
  private faults = 0;
  private started = 0;
  private ending = false;
  private stopInside = 0;
  /** Workers stopped between read and write, and the key and token they will write with. */
  private readonly frozen = new Map<WorkerProcess, { key: string; token: bigint }>();

  constructor(options: HistoryOptions) {
    this.options = options;
  }

  async run(): Promise<void> {
    const { durationMs, random } = this.options;
    for (let i = 0; i < workerCount; i++) this.startWorker();
    await Promise.all(this.workers.map((worker) => worker.until('ready')));
    if (this.options.faults.includes('stop-inside')) this.stopInside++;
    const untilMs = performance.now() + durationMs;
    while (performance.now() < untilMs) {
      await sleep(300 + random.unit() * 900);
      await this.fault(random.pick(this.options.faults));
    }
    // Those who were stopped get the chance to do harm before the end.
    this.stopInside = 0;
    for (let i = 0; i < 200 && this.frozen.size > 0; i++) await sleep(100);
    await sleep(2 * ttlMs);
    this.ending = true;
    await Promise.all(this.workers.map((worker) => worker.kill()));
  }

  result(): HistoryResult {
    const cells = [...this.cells.values()];
    const sum = (pick: (cell: Cell) => number): number =>
      cells.reduce((total, cell) => total + pick(cell), 0);
    return {
      acknowledged: sum((cell) => cell.acknowledged),
      refused: this.refused,
      lostUpdates: sum((cell) => cell.acknowledged - cell.value),
      disorder: sum(disorder),
      faults: this.faults,
    };
  }

  private startWorker(): void {
    const { cluster, prefix } = this.options;
    // Every other worker trusts its lock blindly: for those the tokens are needed.
    const assertValid = this.started % 2 === 0;
    const keys = Array.from({ length: keyCount }, (_, i) => `key-${i}`);
    const member = `w${this.started++}`;
    const { endpoints } = cluster;
    const work = { keys, assertValid };
    this.workers.push(
      new WorkerProcess({ endpoints, prefix, member, ttlMs, slots: 64, work }, (event, worker) =>
        this.onEvent(event, worker),
      ),
    );
  }

  private onEvent(event: WorkerEvent, worker: WorkerProcess): void {
    if (event.kind !== 'read' && event.kind !== 'write') return;
    const cell = this.cell(event.key);
    const token = BigInt(event.token);
    if (event.checked) cell.steps.push({ atMs: event.atMs, token });
    const refuse = this.options.storeChecksTokens && token < cell.tokenMax;
    if (token > cell.tokenMax) cell.tokenMax = token;
    this.thaw(event.key, token);
    if (refuse) this.refused++;
    else if (event.kind === 'write') {
      cell.value = event.value;
      cell.acknowledged++;
    }
    // Between its read and its write is where a stopped worker does the most harm.
    if (event.kind === 'read' && !event.checked && !refuse && this.stopInside > 0) {
      this.stopInside--;
      this.frozen.set(worker, { key: event.key, token });
      worker.signal('SIGSTOP');
    }
    worker.send({ do: 'answer', call: event.call, value: refuse ? null : cell.value });
  }

  /** Somebody newer has come to the key: whoever was stopped there goes on, too late. */
  private thaw(key: string, token: bigint): void {
    for (const [worker, held] of this.frozen) {
      if (held.key !== key || held.token >= token) continue;
      this.frozen.delete(worker);
      // Give the newer one time to write, so that there is something to lose.
      setTimeout(() => worker.signal('SIGCONT'), 200);
    }
  }

  private cell(key: string): Cell {
    const cell = this.cells.get(key) ?? { value: 0, acknowledged: 0, tokenMax: 0n, steps: [] };
    this.cells.set(key, cell);
    return cell;
  }

  private async fault(fault: Fault): Promise<void> {
    const { random, cluster } = this.options;
    this.faults++;
    const free = this.workers.filter((one) => !this.frozen.has(one));
    const worker = random.pick(free.length > 0 ? free : this.workers);
    const etcd = random.between(0, cluster.size - 1);
    if (fault === 'stop-worker') this.stop(worker, random.unit() * 2 * ttlMs);
    else if (fault === 'stop-inside') this.stopInside++;
    else if (fault === 'kill-worker') {
      this.workers.splice(this.workers.indexOf(worker), 1);
      await worker.kill();
      if (!this.ending) this.startWorker();
    } else if (fault === 'stop-etcd') {
      cluster.pause(etcd);
      await sleep(random.unit() * 2000);
      cluster.resume(etcd);
    } else {
      await cluster.kill(etcd);
      await sleep(random.unit() * 1000);
      cluster.launch(etcd);
      await sleep(1000);
    }
  }

  private stop(worker: WorkerProcess, forMs: number): void {
    worker.signal('SIGSTOP');
    setTimeout(() => worker.signal('SIGCONT'), forMs);
  }
}

function disorder(cell: Cell): number {
  const steps = cell.steps.toSorted((a, b) => a.atMs - b.atMs);
  let tokenMax = 0n;
  let count = 0;
  for (const { token } of steps) {
    if (token < tokenMax) count++;
    else tokenMax = token;
  }
  return count;
}
