/**
 * Five workers add to twenty numbers, each under its lock, while a nemesis stops and kills workers and etcds. The
 * numbers are kept by a store in this process, which may or may not compare tokens. Used by the history test and by
 * the soak.
 *
 * The checker looks for:
 *   lost updates   an acknowledged addition that is not in the number any more
 *   linearizable   grants, successful `assertValid` and ends of each key's lock are the history of one lock
 *                  with tokens that grow, each at some instant between its call and its answer
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SeededRandom } from '@carillon/core/testing';
import { LockRecorder, type RecordedLock } from './lock-recorder.ts';
import { TcpProxy } from './tcp-proxy.ts';
import type { WorkerEvent } from './worker.ts';
import { WorkerProcess } from './worker-process.ts';

/** The faults that the nemesis can inject into an etcd cluster. */
export interface NemesisCluster {
  readonly size: number;
  readonly endpoints: readonly string[];
  kill(index: number): Promise<void>;
  launch(index: number): void;
  pause(index: number): void;
  resume(index: number): void;
}

export const faults = [
  'stop-worker',
  'stop-inside',
  'kill-worker',
  /** Nothing passes between the worker and any etcd for a while. */
  'cut-worker',
  'kill-etcd',
  'stop-etcd',
] as const;
export type Fault = (typeof faults)[number];

export interface HistoryOptions {
  readonly cluster: NemesisCluster;
  readonly random: SeededRandom;
  readonly prefix: string;
  readonly durationMs: number;
  readonly faults: readonly Fault[];
  /** Whether the store refuses tokens below the largest it has seen for the key. */
  readonly storeChecksTokens: boolean;
  /** Workers that hand out a token twice: the checker must notice. */
  readonly tokensTwice?: boolean;
}

export interface HistoryResult {
  readonly acknowledged: number;
  readonly refused: number;
  readonly lostUpdates: number;
  /** Operations on locks that were recorded, and a sentence for each key where no single lock could have made them. */
  readonly operations: number;
  readonly notLinearizable: readonly string[];
  readonly faults: number;
}

const workerCount = 5;
const keyCount = 20;
const ttlMs = 2000;

interface Cell {
  value: number;
  acknowledged: number;
  tokenMax: bigint;
}

export async function runHistory(options: HistoryOptions): Promise<HistoryResult> {
  const history = new History(options);
  try {
    await history.run();
  } finally {
    await history.end();
  }
  return history.result();
}

class History {
  private readonly options: HistoryOptions;
  private readonly cells = new Map<string, Cell>();
  private readonly workers: WorkerProcess[] = [];
  private readonly recorder = new LockRecorder();
  /** The lock that each worker holds. */
  private readonly locks = new Map<WorkerProcess, RecordedLock>();
  /** The way from each worker to the etcds. */
  private readonly ways = new Map<WorkerProcess, readonly TcpProxy[]>();
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
    for (let i = 0; i < workerCount; i++) await this.startWorker();
    await Promise.all(this.workers.map((worker) => worker.until('ready')));
    if (this.options.faults.includes('stop-inside')) this.stopInside++;
    const untilMs = performance.now() + durationMs;
    while (performance.now() < untilMs) {
      await sleep(300 + random.unit() * 900);
      await this.fault(random.pick(this.options.faults));
    }
    // Stopped workers go on before the end, so that their late writes are tried.
    this.stopInside = 0;
    for (let i = 0; i < 200 && this.frozen.size > 0; i++) await sleep(100);
    await sleep(2 * ttlMs);
  }

  async end(): Promise<void> {
    this.ending = true;
    await Promise.all([...this.workers].map((worker) => this.kill(worker)));
  }

  result(): HistoryResult {
    const cells = [...this.cells.values()];
    const sum = (pick: (cell: Cell) => number): number =>
      cells.reduce((total, cell) => total + pick(cell), 0);
    return {
      acknowledged: sum((cell) => cell.acknowledged),
      refused: this.refused,
      lostUpdates: sum((cell) => cell.acknowledged - cell.value),
      operations: this.recorder.count,
      notLinearizable: this.recorder.violations(),
      faults: this.faults,
    };
  }

  private async startWorker(): Promise<void> {
    const { cluster, prefix, tokensTwice = false } = this.options;
    // Every other worker never asks whether its lock is still valid: only tokens can stop its late writes.
    const assertValid = this.started % 2 === 0;
    const keys = Array.from({ length: keyCount }, (_, i) => `key-${i}`);
    const member = `w${this.started++}`;
    const way = await Promise.all(cluster.endpoints.map((endpoint) => TcpProxy.start(endpoint)));
    const endpoints = way.map(({ endpoint }) => endpoint);
    const work = { keys, assertValid };
    const worker = new WorkerProcess(
      { endpoints, prefix, member, ttlMs, slots: 64, work, tokensTwice },
      (event, from) => this.onEvent(event, from),
    );
    this.ways.set(worker, way);
    this.workers.push(worker);
  }

  private async kill(worker: WorkerProcess): Promise<void> {
    this.workers.splice(this.workers.indexOf(worker), 1);
    await worker.kill();
    await Promise.all((this.ways.get(worker) ?? []).map((proxy) => proxy.close()));
    this.ways.delete(worker);
  }

  private onEvent(event: WorkerEvent, worker: WorkerProcess): void {
    this.record(event, worker);
    if (event.kind !== 'read' && event.kind !== 'write') return;
    const cell = this.cell(event.key);
    const token = BigInt(event.token);
    const refuse = this.options.storeChecksTokens && token < cell.tokenMax;
    if (token > cell.tokenMax) cell.tokenMax = token;
    this.thaw(event.key, token);
    if (refuse) this.refused++;
    else if (event.kind === 'write') {
      cell.value = event.value;
      cell.acknowledged++;
    }
    // Between its read and its write is where a stopped worker does the most harm.
    if (event.kind === 'read' && event.checkedMs === null && !refuse && this.stopInside > 0) {
      this.stopInside--;
      this.frozen.set(worker, { key: event.key, token });
      worker.signal('SIGSTOP');
    }
    worker.send({ do: 'answer', call: event.call, value: refuse ? null : cell.value });
  }

  private record(event: WorkerEvent, worker: WorkerProcess): void {
    const { recorder, locks } = this;
    const { atMs } = event;
    if (event.kind === 'held') {
      const asked = { fromMs: event.askedMs, toMs: atMs };
      locks.set(worker, recorder.grant(event.key, BigInt(event.token), asked));
      return;
    }
    const lock = locks.get(worker);
    if (lock === undefined) return;
    if (event.kind === 'over') {
      if (event.validMs !== null) lock.validMs = event.validMs;
      recorder.end(lock, atMs);
    } else if ((event.kind === 'read' || event.kind === 'write') && event.checkedMs !== null) {
      recorder.check(lock, event.checkedMs, atMs);
    }
  }

  /** A newer lock was granted on the key: the worker that was stopped under the older lock goes on, too late. */
  private thaw(key: string, token: bigint): void {
    for (const [worker, held] of this.frozen) {
      if (held.key !== key || held.token >= token) continue;
      this.frozen.delete(worker);
      // Give the newer one time to write, so that there is something to lose.
      setTimeout(() => worker.signal('SIGCONT'), 200);
    }
  }

  private cell(key: string): Cell {
    const cell = this.cells.get(key) ?? { value: 0, acknowledged: 0, tokenMax: 0n };
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
      await this.kill(worker);
      if (!this.ending) await this.startWorker();
    } else if (fault === 'cut-worker') this.cut(worker, random.unit() * 2 * ttlMs);
    else if (fault === 'stop-etcd') {
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

  private cut(worker: WorkerProcess, forMs: number): void {
    const way = this.ways.get(worker) ?? [];
    for (const proxy of way) proxy.stalled = true;
    setTimeout(() => {
      for (const proxy of way) proxy.stalled = false;
    }, forMs);
  }
}
