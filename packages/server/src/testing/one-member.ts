/** One member alone in virtual time, with scripted receivers: for tests that need no cluster. */
import type { CallbackRequest, Callbacks, Clock, Disk, Log } from '@carillon/core';
import { FakeCallbacks, SeededRandom, settle, VirtualClock } from '@carillon/core/testing';
import type { ApiResponse } from '../http/message.ts';
import { aloneSource } from '../cluster/sources/alone.ts';
import { type Config, defaultConfig } from '../config/config.ts';
import { Member } from '../member.ts';
import type { MemberOptions } from '../wiring/options.ts';

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

export interface OneMember {
  readonly member: Member;
  readonly clock: VirtualClock;
  readonly receivers: FakeCallbacks;
  /** Errors that would have stopped the process. */
  readonly failures: unknown[];
  stop(): Promise<void>;
  readonly request: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<ApiResponse>;
}

export interface OneMemberOptions {
  readonly disk?: Disk | null;
  readonly config?: Partial<Config>;
  readonly clock?: VirtualClock;
  /** Further options of the member. */
  readonly more?: (
    clock: Clock,
  ) => Partial<Pick<MemberOptions, 'access' | 'numbering' | 'otlp' | 'quotas' | 'routes'>>;
  /** Instead of the scripted receivers. */
  readonly callbacks?: (clock: Clock) => Callbacks;
}

export async function startOne(options: OneMemberOptions = {}): Promise<OneMember> {
  const clock = options.clock ?? new VirtualClock();
  const receivers = new FakeCallbacks(clock);
  const failures: unknown[] = [];
  const started = Member.start({
    name: 'n0',
    env: {
      clock,
      random: new SeededRandom(7),
      log: silentLog,
      disk: options.disk ?? null,
      network: null,
      callbacks: options.callbacks?.(clock) ?? receivers,
    },
    config: { ...defaultConfig, ...options.config },
    source: aloneSource({ name: 'n0', address: 'n0:1' }),
    release: { version: 'test', runtime: 'test' },
    onFailed: (error) => failures.push(error),
    ...options.more?.(clock),
  });
  const member = await settled(clock, started);
  return {
    member,
    clock,
    receivers,
    failures,
    stop: () => settled(clock, member.stop()),
    request: (method, path, body, headers = {}) => {
      const [plain = '', query = ''] = path.split('?');
      const bytes =
        body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
      const answer = member.router.handle({
        method,
        path: plain,
        query,
        headers,
        body: new TextEncoder().encode(bytes),
      });
      return settled(clock, Promise.resolve(answer));
    },
  };
}

/** Lets time pass as far as it must for `promise` to settle. */
async function settled<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  const state = { done: false };
  const mark = (): void => {
    state.done = true;
  };
  promise.then(mark, mark);
  await settle();
  while (!state.done && clock.step()) await settle();
  return promise;
}

/** The body of a Chronos request. */
export function timerBody(
  intervalSeconds: number,
  more: { repeatFor?: number; uri?: string; opaque?: string } = {},
) {
  const { repeatFor, uri = 'http://receiver.test/', opaque = 'ding' } = more;
  const timing =
    repeatFor === undefined
      ? { interval: intervalSeconds }
      : { interval: intervalSeconds, 'repeat-for': repeatFor };
  return { timing, callback: { http: { uri, opaque } } };
}

export function header(response: ApiResponse, name: string): string | undefined {
  const at = response.headers.findIndex((text, i) => i % 2 === 0 && text.toLowerCase() === name);
  return at === -1 ? undefined : response.headers[at + 1];
}

export function bodyText(request: CallbackRequest): string {
  return new TextDecoder().decode(request.body);
}
