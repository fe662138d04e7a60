/**
 * A process with a ring of its own, for tests with real processes: takes commands as JSON lines on its standard input
 * and reports events as JSON lines on its standard output. Times are of the system's monotonic clock, which all
 * processes of a machine share. Started by `worker-process.ts`.
 */
import { createInterface } from 'node:readline';
import type { LockLostError } from '../errors.ts';
import type { Lock } from '../locks/lock.ts';
import { Ring, type RingOptions } from '../ring.ts';
import { Slots } from '../slots/slots.ts';

export interface WorkerOptions
  extends Pick<RingOptions, 'endpoints' | 'prefix' | 'ttlMs' | 'slots'> {
  readonly member: string;
  readonly marginMs?: number;
  /** Work on these keys all the time, against the store of the test. */
  readonly work?: { readonly keys: readonly string[]; readonly assertValid: boolean };
  /** Breaks the rule that tokens grow, so that a test can see the checker find it. */
  readonly tokensTwice?: boolean;
}

export type WorkerEvent = { readonly atMs: number } & (
  | { readonly kind: 'ready' | 'closed' }
  | { readonly kind: 'granted'; readonly key: string; readonly token: string }
  | { readonly kind: 'lost'; readonly key: string; readonly reason: string }
  /** A sign of life of a held lock; `gapMs`: how long this process did not run before it. */
  | {
      readonly kind: 'pulse';
      readonly key: string;
      readonly leftMs: number;
      readonly gapMs: number;
    }
  /** A lock was granted that was asked for at `askedMs`. */
  | {
      readonly kind: 'held';
      readonly key: string;
      readonly token: string;
      readonly askedMs: number;
    }
  /** The lock was given back or lost. At `validMs` it could still be trusted; null: not since the last sign of that. */
  | {
      readonly kind: 'over';
      readonly key: string;
      readonly token: string;
      readonly validMs: number | null;
    }
  | {
      readonly kind: 'read';
      readonly call: number;
      readonly key: string;
      readonly token: string;
      /** When `assertValid` was called just before; null: it was not. */
      readonly checkedMs: number | null;
    }
  | {
      readonly kind: 'write';
      readonly call: number;
      readonly key: string;
      readonly token: string;
      readonly value: number;
      readonly checkedMs: number | null;
    }
);

export type WorkerCommand =
  | { readonly do: 'lock'; readonly key: string }
  | { readonly do: 'release'; readonly key: string }
  | { readonly do: 'close' }
  /** The store's answer to a read or write; null: refused. */
  | { readonly do: 'answer'; readonly call: number; readonly value: number | null };

type Told = WorkerEvent extends infer E ? (E extends unknown ? Omit<E, 'atMs'> : never) : never;

const pulseMs = 10;
const held = new Map<string, Lock>();
const calls = new Map<number, (value: number | null) => void>();
let made = 0;

function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function tell(event: Told): void {
  process.stdout.write(`${JSON.stringify({ ...event, atMs: nowMs() })}\n`);
}

async function main(): Promise<void> {
  const { member, work, tokensTwice, ...options } = JSON.parse(
    process.argv[2] ?? '{}',
  ) as WorkerOptions;
  if (tokensTwice === true) Slots.prototype.nextCounter = ({ counter }) => counter;
  const ring = await Ring.open(options);
  await ring.addMember(member);
  tell({ kind: 'ready' });
  if (work !== undefined) void workOn(ring, member, work);
  else pulse();
  for await (const line of createInterface({ input: process.stdin })) {
    obey(ring, JSON.parse(line) as WorkerCommand);
  }
}

function obey(ring: Ring, command: WorkerCommand): void {
  if (command.do === 'lock') void take(ring, command.key);
  else if (command.do === 'release') void held.get(command.key)?.release();
  else if (command.do === 'answer') calls.get(command.call)?.(command.value);
  else {
    void ring.close().then(() => {
      tell({ kind: 'closed' });
      // From here on the process must end by itself.
      process.stdin.destroy();
    });
  }
}

async function take(ring: Ring, key: string): Promise<void> {
  const lock = await ring.lock(key);
  held.set(key, lock);
  tell({ kind: 'granted', key, token: String(lock.token) });
  lock.lost.addEventListener('abort', () => {
    tell({ kind: 'lost', key, reason: (lock.lost.reason as LockLostError).reason });
  });
}

/** While locks are held: says every few milliseconds whether they may be trusted. */
function pulse(): void {
  let lastMs = nowMs();
  const timer = setInterval(() => {
    const gapMs = nowMs() - lastMs;
    lastMs = nowMs();
    for (const [key, lock] of held) {
      tell({
        kind: 'pulse',
        key,
        leftMs: Math.round(lock.remainingMs()),
        gapMs: Math.round(gapMs),
      });
    }
  }, pulseMs);
  timer.unref();
}

function ask(step: (call: number) => Told): Promise<number | null> {
  const call = made++;
  return new Promise((resolve) => {
    calls.set(call, (value) => {
      calls.delete(call);
      resolve(value);
    });
    tell(step(call));
  });
}

/** Adds one to a number in the store, again and again, each time under the key's lock. */
async function workOn(
  ring: Ring,
  member: string,
  work: NonNullable<WorkerOptions['work']>,
): Promise<never> {
  for (let i = process.pid; ; i++) {
    const key = work.keys[i % work.keys.length] as string;
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (ring.ownerOf(key) !== member) continue;
    const askedMs = nowMs();
    try {
      const lock = await ring.lock(key, { timeoutMs: 500 });
      tell({ kind: 'held', key, token: String(lock.token), askedMs });
      await underLock(lock, work.assertValid);
    } catch {
      // Not ours, or lost on the way: the next key.
    }
  }
}

async function underLock(lock: Lock, assertValid: boolean): Promise<void> {
  const token = String(lock.token);
  try {
    await addOne(lock, assertValid);
  } finally {
    const beforeMs = nowMs();
    const validMs = lock.remainingMs() > 0 ? beforeMs : null;
    await lock.release();
    tell({ kind: 'over', key: lock.key, token, validMs });
  }
}

async function addOne(lock: Lock, assertValid: boolean): Promise<void> {
  const { key } = lock;
  const token = String(lock.token);
  const check = (): number | null => {
    if (!assertValid) return null;
    const beforeMs = nowMs();
    lock.assertValid();
    return beforeMs;
  };
  const readMs = check();
  const value = await ask((call) => ({ kind: 'read', key, token, checkedMs: readMs, call }));
  if (value === null) return;
  const writeMs = check();
  await ask((call) => ({
    kind: 'write',
    key,
    token,
    checkedMs: writeMs,
    call,
    value: value + 1,
  }));
}

// Not awaited at the top: the process ends as soon as nothing keeps it alive.
main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
