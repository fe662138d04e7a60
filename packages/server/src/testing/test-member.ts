/**
 * A member for the unit tests of its users: in this process, with a clock that moves only when told to, and receivers
 * that are plain functions. Nothing goes over a network; timers pop only inside `advance`. Depends on no test runner.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type CallbackRequest,
  type CallbackResult,
  type Callbacks,
  namesOf,
  parseDuration,
  refuseUnknown,
  refuseUnless,
  shown,
} from '@carillon/core';
import { settle, type VirtualClock } from '@carillon/core/testing';
import type { ApiResponse } from '../http/message.ts';
import { type Receive, type ReceiverOf, receiversByAddress } from './addresses.ts';
import { type OneMember, startOne } from './one-member.ts';

export type { Receive } from './addresses.ts';

export interface TestMemberOptions {
  /**
   * By address: an origin such as `http://shop.test`, or with the beginning of a path, `http://shop.test/orders`. The
   * longest one that fits takes a callback; a callback that none fits is a refused connection.
   */
  readonly receivers?: Readonly<Record<string, Receive>>;
  /** Wall time at the start; default 2026-01-01T00:00:00Z. */
  readonly now?: Date;
}

export interface TestClock {
  readonly now: Date;
  /**
   * Lets time pass, with everything that falls due on the way, and waits for the receivers: milliseconds, or a text
   * such as `'10m'`. Calls that overlap take place one after the other. Rejects inside a receiver, where time stands
   * still.
   */
  advance(duration: number | string): Promise<void>;
}

export interface TestMember {
  /** For `members` of the client, together with `fetch`. */
  readonly url: string;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: TestClock;
  stop(): Promise<void>;
}

const url = 'http://carillon.test';
/** A request to a member that is alone and keeps nothing on disk needs a few turns and no time. */
const turnsMax = 1000;

export async function startTestMember(options: TestMemberOptions = {}): Promise<TestMember> {
  refuseUnknown(options, 'test member', namesOf<TestMemberOptions>({ receivers: 1, now: 1 }));
  const { now } = options;
  const isDate = now === undefined || (now instanceof Date && !Number.isNaN(now.getTime()));
  refuseUnless(isDate, 'now', 'a valid Date', now);
  const receivers = new FunctionReceivers(receiversByAddress(options.receivers ?? {}));
  const one = await startOne({ callbacks: () => receivers });
  const { clock } = one;
  clock.wallOffsetMs += (now?.getTime() ?? clock.wall()) - clock.wall();
  return {
    url,
    fetch: (input, init) => answer(one, new Request(input, init)),
    clock: {
      get now() {
        return new Date(clock.wall());
      },
      advance: oneByOne((duration) => advance(clock, receivers, durationMs(duration))),
    },
    stop: () => one.stop(),
  };
}

/**
 * Calls that overlap, each after the ones before it. A call inside a receiver is refused there and in the call of the
 * test: a receiver that fails is tried again, and its error is not seen.
 */
function oneByOne(pass: TestClock['advance']): TestClock['advance'] {
  let last: Promise<unknown> = Promise.resolve();
  let misuse: TypeError | null = null;
  const advanced = async (duration: number | string): Promise<void> => {
    await pass(duration);
    const error = misuse;
    misuse = null;
    if (error !== null) throw error;
  };
  return async (duration) => {
    if (inReceiver.getStore()?.isWorking === true) {
      misuse = new TypeError(
        'A receiver cannot call advance: time stands still while it works. Call it in the test, or set a timer here.',
      );
      throw misuse;
    }
    const mine = last.then(() => advanced(duration));
    last = mine.catch(() => {});
    return mine;
  };
}

function durationMs(duration: number | string): number {
  const ms = typeof duration === 'string' ? parseDuration(duration) : duration;
  if (typeof ms === 'number' && Number.isFinite(ms) && ms >= 0) return ms;
  throw new TypeError(`Advance by milliseconds or a text such as '10m', not ${shown(duration)}.`);
}

async function advance(clock: VirtualClock, receivers: FunctionReceivers, byMs: number) {
  const toMs = clock.now() + byMs;
  await receivers.idle();
  for (let next = clock.nextMs(); next !== null && next <= toMs; next = clock.nextMs()) {
    clock.step();
    await receivers.idle();
  }
  await clock.advanceTo(toMs);
}

async function answer({ member, clock }: OneMember, request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const handled = { response: null as ApiResponse | null };
  const answered = Promise.resolve(
    member.router.handle({
      method: request.method,
      path: pathname,
      query: search.slice(1),
      headers: Object.fromEntries(request.headers),
      body: new Uint8Array(await request.arrayBuffer()),
    }),
  ).then((response) => {
    handled.response = response;
  });
  for (let turn = 0; handled.response === null && turn < turnsMax; turn++) await clock.advance(0);
  if (handled.response === null) throw new TypeError('The member does not answer.');
  await answered;
  const { status, headers, body } = handled.response;
  const pairs = headers.flatMap((name, i): [string, string][] =>
    i % 2 === 0 ? [[name, headers[i + 1] ?? '']] : [],
  );
  return new Response(status === 204 ? null : body, { status, headers: pairs });
}

/** Seen by the code of a receiver, and by all that it calls. */
const inReceiver = new AsyncLocalStorage<{ isWorking: boolean }>();

/** Callbacks as calls of functions. Time stands still while one of them works, so none is ever too slow. */
class FunctionReceivers implements Callbacks {
  private readonly receiverOf: ReceiverOf;
  private readonly pending = new Set<Promise<void>>();

  constructor(receiverOf: ReceiverOf) {
    this.receiverOf = receiverOf;
  }

  call(request: CallbackRequest, done: (result: CallbackResult) => void): void {
    const working = this.deliver(request).then((result) => {
      this.pending.delete(working);
      done(result);
    });
    this.pending.add(working);
  }

  async idle(): Promise<void> {
    await settle();
    while (this.pending.size > 0) {
      await Promise.all(this.pending);
      await settle();
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private async deliver({ uri, method, headers, body }: CallbackRequest): Promise<CallbackResult> {
    const receive = this.receiverOf(uri);
    if (receive === null) {
      return { kind: 'no-answer', reason: 'refused', detail: 'No receiver has this address.' };
    }
    const work = { isWorking: true };
    try {
      const text = new TextDecoder().decode(body);
      const hasBody = method !== 'GET' && method !== 'HEAD';
      const init = { method, headers: { ...headers }, body: hasBody ? text : null };
      const request = new Request(uri, init);
      const { status } = await inReceiver.run(work, () => receive(request));
      return { kind: 'answer', status, retryAfterMs: null };
    } catch {
      return { kind: 'no-answer', reason: 'cut', detail: 'The receiver threw.' };
    } finally {
      work.isWorking = false;
    }
  }
}
