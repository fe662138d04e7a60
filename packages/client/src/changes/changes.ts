/**
 * Sets, replaces and cancels on their way to the cluster. Changes that are asked for while others are on their way go
 * together.
 *
 * C1  A change on a quiet client leaves at once, by itself. While something is on its way, or was answered in this
 *     turn, changes are collected until the turn brings no more, and leave in one batch; many in two where nothing is
 *     on its way, so that a member can work on one while the client reads the answer to the other. Few changes beside
 *     many on their way wait for the next answer: a request costs as much as thirty changes.
 * C2  Each change has its own outcome. A change without one after an attempt (no answer of a member, or 5xx) is tried
 *     at another member, under the same key; a change with an outcome is not sent again.
 * C3  Changes of one timer are never on their way at the same time, so they take effect in the order of the calls.
 * C4  A member that does not take batches of changes (an older release, smaller limits) gets them one by one.
 */
import { ApiError } from '../errors.ts';
import type { SeenVersion } from '../seen-version.ts';
import type { Confirmed, Fields } from '../shapes.ts';
import type { ClientSystem } from '../system.ts';
import type { Course, Prepared, Transport } from '../transport.ts';
import {
  type Asked,
  Change,
  confirmedOf,
  inTimer,
  isUnknownForm,
  itemOutcome,
  itemText,
  outcomesOf,
  single,
} from './change.ts';
import { Order } from './order.ts';

export interface ChangesOptions {
  readonly transport: Transport;
  readonly seen: SeenVersion;
  readonly system: ClientSystem;
  /** False: each change is a request of its own. */
  readonly coalesce: boolean;
}

/** A batch at most. */
const batchLimits = { countMax: 500, bytesMax: 1024 * 1024 };
/** So many are worth a second request. */
const halfCountMin = 16;
/** Requests on their way. */
const requestCountMax = 4;
/**
 * A turn is over after so many steps of the microtask queue without a change: a caller's own promises lie between two
 * calls.
 */
const quietStepCount = 16;
/** How long a member that does not take batches is not asked to. */
const singlyMs = 60_000;
/** Refusals of a whole batch that single changes would get as well. */
const refusedAnyway = new Set([401, 403, 429]);

export class Changes {
  private readonly options: ChangesOptions;
  private readonly order = new Order();
  private readonly singlyUntilMs = new Map<string, number>();
  private requestCount = 0;
  /** Changes in the requests on their way. */
  private sentCount = 0;
  private addedCount = 0;
  private isCollecting = false;

  constructor(options: ChangesOptions) {
    this.options = options;
  }

  /** Rejects with ApiError, UnreachableError, or the reason of the signal. */
  make(asked: Asked): Promise<Confirmed> {
    if (!this.options.coalesce) return this.makeAlone(asked);
    return new Promise((resolve, reject) => {
      asked.signal?.throwIfAborted();
      this.add(new Change(asked, resolve, reject));
    });
  }

  private makeAlone(asked: Asked): Promise<Confirmed> {
    const { transport } = this.options;
    const course = { signal: asked.signal, repeatable: true };
    return transport.atMembers(course, async (member) =>
      confirmedOf(await transport.attempt(member, single(asked), course)),
    );
  }

  private add(change: Change): void {
    const isQuiet = this.requestCount === 0 && !this.isCollecting && this.order.readyCount === 0;
    this.addedCount++;
    this.order.add(change);
    if (isQuiet) this.sendReady();
    else this.collect();
  }

  /** Sends the changes that are ready at the end of this turn of the event loop. */
  private collect(): void {
    if (this.isCollecting) return;
    this.isCollecting = true;
    this.awaitQuiet(quietStepCount);
  }

  private awaitQuiet(stepCount: number): void {
    const known = this.addedCount;
    queueMicrotask(() => {
      const left = this.addedCount === known ? stepCount - 1 : quietStepCount;
      if (left > 0 && this.order.readyCount < batchLimits.countMax) return this.awaitQuiet(left);
      this.isCollecting = false;
      this.sendReady();
    });
  }

  private sendReady(): void {
    while (this.order.readyCount > 0 && this.requestCount < requestCountMax && !this.isFew()) {
      const taken = this.order.take({ ...batchLimits, countMax: this.nextCountMax() });
      if (taken.length > 0) this.send(taken);
    }
  }

  /** Whether an answer that is on its way will make a larger batch of the changes that are ready. */
  private isFew(): boolean {
    return this.order.readyCount < Math.min(batchLimits.countMax, this.sentCount / 2);
  }

  private nextCountMax(): number {
    const { countMax } = batchLimits;
    if (this.requestCount > 0) return countMax;
    return Math.min(countMax, Math.max(halfCountMin, Math.ceil(this.order.readyCount / 2)));
  }

  private send(changes: readonly Change[]): void {
    this.requestCount++;
    this.sentCount += changes.length;
    const course = courseOf(changes);
    const { transport } = this.options;
    const over = (): void => {
      this.requestCount--;
      this.sentCount -= changes.length;
      for (const change of changes) this.order.over(change);
      this.collect();
    };
    const sent = transport.atMembers(course, (member) => this.sendTo(member, changes, course));
    sent.then(over, (error: unknown) => {
      for (const change of changes) change.failed(error);
      over();
    });
  }

  /** Rejects when there are changes without an outcome. */
  private async sendTo(member: string, changes: readonly Change[], course: Course): Promise<void> {
    const { system } = this.options;
    const open = changes.filter(({ isOpen }) => isOpen);
    const singly = system.now() < (this.singlyUntilMs.get(member) ?? 0);
    if (open.length < 2 || singly) return this.sendSingly(member, open, course);
    const { untaken, failure } = await this.sendBatch(member, open, course);
    if (untaken.length > 0) {
      this.singlyUntilMs.set(member, system.now() + singlyMs);
      await this.sendSingly(member, untaken, course);
    }
    if (failure !== null) throw failure;
  }

  private async sendBatch(
    member: string,
    changes: readonly Change[],
    course: Course,
  ): Promise<Batched> {
    try {
      const answer = await this.options.transport.attempt(member, batchOf(changes), course);
      return this.settle(changes, outcomesOf(answer, changes.length));
    } catch (error) {
      const isOfBatch =
        error instanceof ApiError && error.status < 500 && !refusedAnyway.has(error.status);
      if (isOfBatch) return { untaken: changes, failure: null };
      throw error;
    }
  }

  private settle(changes: readonly Change[], outcomes: readonly Fields[]): Batched {
    const untaken: Change[] = [];
    let failure: ApiError | null = null;
    for (const [i, change] of changes.entries()) {
      const from = outcomes[i] as Fields;
      this.options.seen.add(from.text('version'));
      const outcome = itemOutcome(from);
      if (outcome.ok) change.done(outcome.confirmed);
      else if (isUnknownForm(outcome.error)) untaken.push(change);
      else if (outcome.error.status >= 500) failure = outcome.error;
      else change.failed(inTimer(outcome.error));
    }
    return { untaken, failure };
  }

  private async sendSingly(
    member: string,
    changes: readonly Change[],
    course: Course,
  ): Promise<void> {
    const failures: unknown[] = [];
    const send = async (change: Change): Promise<void> => {
      try {
        const prepared = single(change.asked);
        change.done(confirmedOf(await this.options.transport.attempt(member, prepared, course)));
      } catch (error) {
        if (error instanceof ApiError && error.status < 500) change.failed(error);
        else failures.push(error);
      }
    };
    await Promise.all(changes.map(send));
    if (failures.length > 0) throw failures[0];
  }
}

/** The changes of a batch that have no outcome. */
interface Batched {
  /** Changes that this member does not take in a batch. */
  readonly untaken: readonly Change[];
  /** The newest error after which another member may take them. */
  readonly failure: ApiError | null;
}

function batchOf(changes: readonly Change[]): Prepared {
  const text = `[${changes.map(({ asked }) => itemText(asked)).join(',')}]`;
  return { method: 'POST', path: '/timers/batch', headers: {}, text };
}

/** Ends when the last caller does not wait any longer. */
function courseOf(changes: readonly Change[]): Course {
  if (changes.every(({ asked }) => asked.signal === undefined))
    return { signal: undefined, repeatable: true };
  const controller = new AbortController();
  for (const change of changes) {
    change.onLeft = (reason) => {
      if (changes.every(({ isOpen }) => !isOpen)) controller.abort(reason);
    };
  }
  return { signal: controller.signal, repeatable: true };
}
