/** One system, its receiver and its load client, fresh for one measurement and gone afterwards. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Arrivals, Expected } from '../load/arrivals.ts';
import { type Load, type LoadResult, loadOf } from '../load/load.ts';
import { cpuMs, rssBytes } from '../support/process-tree.ts';
import { Remote } from '../support/remote.ts';
import { withScratch } from '../support/scratch.ts';
import type { Running, System } from '../systems/system.ts';

const clientScript = join(import.meta.dirname, '../load/client.ts');
const receiverScript = join(import.meta.dirname, '../load/receiver.ts');
const libraryScript = join(import.meta.dirname, '../load/library-receiver.ts');
const pollMs = 50;

export interface Timed extends LoadResult {
  /** Of the servers and workers; of the client itself for a baseline. */
  readonly serverCpuMs: number;
}

export class Session {
  readonly running: Running;
  private readonly client: Remote;
  private readonly receiver: Remote;

  constructor(running: Running, client: Remote, receiver: Remote) {
    this.running = running;
    this.client = client;
    this.receiver = receiver;
  }

  /** A load without warm-up; refuses to go on when calls failed. */
  async run(given: Partial<Load> & Pick<Load, 'call' | 'count'>): Promise<Timed> {
    const timed = await this.runAnyway(given);
    if (timed.failed > 0) {
      throw new Error(
        `${timed.failed} of ${given.count} calls failed: ${timed.reasons.join('; ')}`,
      );
    }
    return timed;
  }

  async runAnyway(given: Partial<Load> & Pick<Load, 'call' | 'count'>): Promise<Timed> {
    const before = this.cpuMs();
    const result = await this.client.call<LoadResult>('run', loadOf(given));
    return { ...result, serverCpuMs: this.cpuMs() - before };
  }

  cpuMs(): number {
    return cpuMs(this.pids());
  }

  rssBytes(): number {
    return rssBytes(this.pids());
  }

  /** Resident memory after a pause in which spare memory is given back. */
  async restingBytes(settleMs: number): Promise<number> {
    await sleep(settleMs);
    return this.rssBytes();
  }

  /** Heap of the client process after all garbage was collected. */
  clientHeapBytes(): Promise<number> {
    return this.client.call<number>('heapBytes');
  }

  expect(expected: Expected): Promise<void> {
    return this.receiver.call('expect', expected);
  }

  /** Until so many pops have come or the time is over. */
  async arrivals(count: number, endMs: number): Promise<Arrivals> {
    while (Date.now() < endMs && (await this.receiver.call<number>('arrived')) < count) {
      await sleep(pollMs);
    }
    return this.receiver.call<Arrivals>('arrivals');
  }

  /** Closes the client's connections, so that their cost does not count as the system's. */
  async closeClient(): Promise<void> {
    await this.client.call('close');
  }

  openClient(): Promise<void> {
    return this.client.call('open', this.running.setter);
  }

  async end(): Promise<void> {
    await this.client.end();
    await this.running.stop();
    await this.receiver.end();
  }

  private pids(): readonly number[] {
    const pids = this.running.pids();
    return pids.length === 0 ? [this.client.pid] : pids;
  }
}

type Startable = Pick<System, 'start'>;

/**
 * A receiver that costs as little as possible, or the one of the client library, which takes so many pops in a request.
 */
export type ReceiverKind = 'bare' | { readonly batchCountMax: number };

export function withSession<T>(
  system: Startable,
  use: (session: Session) => Promise<T>,
  kind: ReceiverKind = 'bare',
): Promise<T> {
  return withScratch(async (folder) => {
    const session = await startSession(system, folder, kind);
    try {
      return await use(session);
    } finally {
      await session.end();
    }
  });
}

export async function startSession(
  system: Startable,
  parent: string,
  kind: ReceiverKind = 'bare',
): Promise<Session> {
  const folder = join(parent, `data-${process.hrtime.bigint()}`);
  await mkdir(folder, { recursive: true });
  const receiver =
    kind === 'bare'
      ? new Remote(receiverScript)
      : new Remote(libraryScript, [String(kind.batchCountMax)]);
  const client = new Remote(clientScript);
  try {
    const uri = await receiver.call<string>('uri');
    const session = new Session(await system.start({ folder, uri }), client, receiver);
    await session.openClient();
    return session;
  } catch (error) {
    await Promise.all([receiver.end(), client.end()]);
    throw error;
  }
}
