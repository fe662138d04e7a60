/**
 * Clients: they set, replace and cancel timers at all members in turn, and write down their requests and the answers.
 * A request that fails goes to the next member, as any client would do it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseVersion } from '@carillon/core';
import { SeededRandom } from '@carillon/core/testing';
import {
  type Attempt,
  type History,
  type Operation,
  type TimerHistory,
  type TimerWish,
} from '../../../packages/sim/src/history.ts';
import { bodyOf } from './batch.ts';

export interface LoadOptions {
  readonly history: History;
  readonly seed: number;
  /** Base URLs of all members clients know of, dead ones too. */
  readonly urls: () => readonly string[];
  readonly uri: string;
  readonly setsPerSecond: number;
  readonly factor: number;
  readonly intervalMsMin: number;
  readonly intervalMsMax: number;
}

const requestMs = 4000;
const triesMax = 8;
const tickMs = 20;
/** Requests under way at once: a cluster that is slow is not buried under more and more of them. */
const askingMax = 32;
/** So often a timer recurs, is replaced, is cancelled. */
const recurringShare = 0.2;
const replacedShare = 0.1;
const cancelledShare = 0.1;

export class Load {
  private readonly options: LoadOptions;
  private readonly random: SeededRandom;
  private readonly open = new Set<Promise<void>>();
  private stopped = false;
  private running: Promise<void> = Promise.resolve();
  private turn = 0;
  private asking = 0;
  /** Operations that no member took, in words. */
  readonly failures: string[] = [];

  constructor(options: LoadOptions) {
    this.options = options;
    this.random = new SeededRandom(options.seed);
  }

  start(): void {
    this.running = this.run();
  }

  /** Resolves when every request has its answer. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
    while (this.open.size > 0) await Promise.all(this.open);
  }

  private async run(): Promise<void> {
    const { setsPerSecond } = this.options;
    while (!this.stopped) {
      if (this.asking < askingMax) this.begin(this.story());
      await sleep(1000 / setsPerSecond);
    }
  }

  private begin(story: Promise<void>): void {
    const tracked = story.finally(() => this.open.delete(tracked));
    this.open.add(tracked);
  }

  private async story(): Promise<void> {
    const { history } = this.options;
    const timer = history.timer();
    const wish = this.wish();
    const chance = this.random.unit();
    const waitMs = wish.intervalMs * this.random.unit() * 0.8;
    const set = await this.ask(timer, 'set', wish);
    if (set.ackMs === null || chance > replacedShare + cancelledShare) return;
    await sleep(waitMs);
    if (chance < replacedShare) await this.ask(timer, 'set', this.wish());
    else await this.ask(timer, 'cancel', null);
  }

  private wish(): TimerWish {
    const { factor, intervalMsMin, intervalMsMax } = this.options;
    const spanMs = intervalMsMax - intervalMsMin;
    const intervalMs = Math.round(intervalMsMin + this.random.unit() * spanMs);
    const count = this.random.unit() < recurringShare ? 2 : 1;
    return { intervalMs, count, factor, receiver: 'recorder' };
  }

  /** Tries members in turn until one takes it. */
  private async ask(
    timer: TimerHistory,
    kind: 'set' | 'cancel',
    wish: TimerWish | null,
  ): Promise<Operation> {
    const { history, urls } = this.options;
    const operation = history.operation(timer, kind, wish, false);
    this.asking++;
    const turn = this.turn++;
    for (let i = 0; i < triesMax && operation.ackMs === null; i++) {
      const known = urls();
      await this.attempt(operation, known[(turn + i) % known.length] ?? '');
      if (operation.ackMs === null) await sleep(tickMs * 2 ** i);
    }
    this.asking--;
    if (operation.ackMs === null) this.failures.push(failureOf(operation));
    return operation;
  }

  private async attempt(operation: Operation, url: string): Promise<void> {
    const sentMs = performance.now();
    const attempt: Attempt = {
      member: url,
      sentMs,
      arrivedMs: sentMs,
      settledMs: null,
      status: null,
    };
    operation.attempts.push(attempt);
    try {
      const answer = await fetch(...this.request(operation, url));
      await answer.arrayBuffer();
      attempt.status = answer.status;
      // After a refusal for want of copies it may have been stored all the same.
      if (answer.status < 500) attempt.settledMs = performance.now();
      if (answer.ok) acknowledged(operation, answer);
    } catch (error) {
      // A refused connection did nothing; anything else may still act.
      if (isRefused(error)) attempt.settledMs = performance.now();
    }
  }

  private request(operation: Operation, url: string): [string, RequestInit] {
    const { timer, kind, wish } = operation;
    const path = timer.id === null ? '/timers' : `/timers/${timer.id}`;
    const signal = AbortSignal.timeout(requestMs);
    const { headers } = timer.seen;
    const common = { headers, signal };
    if (kind === 'cancel' || wish === null) return [url + path, { method: 'DELETE', ...common }];
    const body = JSON.stringify(bodyOf(operation, this.options.uri));
    return [url + path, { method: timer.id === null ? 'POST' : 'PUT', body, ...common }];
  }
}

function acknowledged(operation: Operation, answer: Response): void {
  const { timer } = operation;
  timer.id = (answer.headers.get('location') ?? '').slice('/timers/'.length);
  const [have = '0', wanted = '0'] = (answer.headers.get('carillon-copies') ?? '').split('/');
  operation.ackMs = performance.now();
  operation.have = Number(have);
  operation.wanted = Number(wanted);
  const version = parseVersion(answer.headers.get('carillon-version') ?? '');
  if (version !== null) timer.seen.add(version);
}

function failureOf({ kind, timer, attempts }: Operation): string {
  const tries = attempts.map(({ member, status }) => `${member} ${status ?? 'no answer'}`);
  return `${kind} of ${timer.id ?? 'a new timer'}: ${tries.join(', ')}`;
}

function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}
