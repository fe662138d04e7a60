/**
 * A member for the unit tests of its users: in this process, with a clock that moves only when told to, and receivers
 * that are plain functions. Nothing goes over a network; timers pop only inside `advance`. Depends on no test runner.
 */
import {
  type CallbackRequest,
  type CallbackResult,
  type Callbacks,
  parseDuration,
} from '@carillon/core';
import { settle, type VirtualClock } from '@carillon/core/testing';
import type { ApiResponse } from '../http/message.ts';
import { type OneMember, startOne } from './one-member.ts';

/** A receiver, as `receiver(…)` of the client library makes it. */
export type Receive = (request: Request) => Response | Promise<Response>;

export interface TestMemberOptions {
  /** By origin, such as `http://shop.test`. Callbacks to any other origin are refused connections. */
  readonly receivers?: Readonly<Record<string, Receive>>;
  /** Wall time at the start; default 2026-01-01T00:00:00Z. */
  readonly now?: Date;
}

export interface TestClock {
  readonly now: Date;
  /**
   * Lets time pass, with everything that falls due on the way, and waits for the receivers: milliseconds, or a text
   * such as `'10m'`.
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
  const receivers = new FunctionReceivers(options.receivers ?? {});
  const one = await startOne({ callbacks: () => receivers });
  const { clock } = one;
  clock.wallOffsetMs += (options.now?.getTime() ?? clock.wall()) - clock.wall();
  return {
    url,
    fetch: (input, init) => answer(one, new Request(input, init)),
    clock: {
      get now() {
        return new Date(clock.wall());
      },
      advance: (duration) => advance(clock, receivers, durationMs(duration)),
    },
    stop: () => one.stop(),
  };
}

function durationMs(duration: number | string): number {
  const ms = typeof duration === 'number' ? duration : parseDuration(duration);
  if (ms !== null && Number.isFinite(ms) && ms >= 0) return ms;
  throw new TypeError(`Advance by milliseconds or a text such as '10m', not ${String(duration)}.`);
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

/** Callbacks as calls of functions. Time stands still while one of them works, so none is ever too slow. */
class FunctionReceivers implements Callbacks {
  private readonly byOrigin: ReadonlyMap<string, Receive>;
  private readonly pending = new Set<Promise<void>>();

  constructor(receivers: Readonly<Record<string, Receive>>) {
    this.byOrigin = new Map(
      Object.entries(receivers).map(([origin, receive]) => [new URL(origin).origin, receive]),
    );
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
    const receive = this.byOrigin.get(new URL(uri).origin);
    if (receive === undefined) {
      return { kind: 'no-answer', reason: 'refused', detail: 'No receiver has this origin.' };
    }
    try {
      const text = new TextDecoder().decode(body);
      const hasBody = method !== 'GET' && method !== 'HEAD';
      const init = { method, headers: { ...headers }, body: hasBody ? text : null };
      const { status } = await receive(new Request(uri, init));
      return { kind: 'answer', status, retryAfterMs: null };
    } catch {
      return { kind: 'no-answer', reason: 'cut', detail: 'The receiver threw.' };
    }
  }
}
