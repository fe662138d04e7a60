/**
 * `carillon lock KEY -- COMMAND…`: runs a command while holding a lock of the ring. The command gets the token in
 * its environment, is stopped when the lock is lost, and its exit code is passed on.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasConfig, type Lock, reach, Ring } from '@carillon/ring';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { duration, parseOptions } from '../../options.ts';
import { etcdOf, ringOptions, ringPlace, ringUsage } from '../../placement/ring-options.ts';

const usage = `Usage: carillon lock KEY [flags] -- COMMAND [ARGUMENT…]

Waits for the lock on KEY, runs COMMAND while holding it, and passes its exit code on. COMMAND finds the
lock's token in CARILLON_LOCK_TOKEN: a number that grows with every grant. Hand it to the resource that the
lock protects, so that it can refuse smaller ones. When the lock is lost, COMMAND is stopped (SIGTERM, after
5 s SIGKILL) and the exit code is 1. It is 127 when there is no program COMMAND, 126 when it cannot be run.
A service that uses the library with the same --ring contends for the same keys. There is no --json: the output is
that of COMMAND.

${ringUsage}
  --ttl DURATION   After a crash of this process the lock is free this much later, 1s to 1h. Default: 5s`;

/** Two keys that fall into one slot wait for each other: in a new ring many slots make that rare. */
const newSlotCount = 16_384;
/** The limits of the library, told here in the words of the command line. */
const keyLengthMax = 1024;
const ttlMsMax = 3_600_000;
/** A command that does not end by itself after SIGTERM is killed after this long. */
const killAfterMs = 5000;
const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGKILL: 9,
  SIGTERM: 15,
};

async function run(args: readonly string[], io: Io): Promise<number> {
  const dashes = args.indexOf('--');
  const [program, ...given] = dashes === -1 ? [] : args.slice(dashes + 1);
  const own = dashes === -1 ? args : args.slice(0, dashes);
  const { flags, operands } = parseOptions(own, { ...ringOptions, ttl: 'text' });
  const [key] = operands;
  if (key === undefined || operands.length > 1 || program === undefined) {
    throw new UsageError('It takes one key and a command: carillon lock KEY -- COMMAND.');
  }
  if (key === '' || key.length > keyLengthMax) {
    throw new UsageError(
      `KEY must be a text of 1 to ${keyLengthMax} characters, not one of ${key.length}.`,
    );
  }
  const place = ringPlace(flags, io);
  const ttlMs = ttlOf(flags.ttl);
  const etcd = etcdOf(place);
  // A command is never asked to hurry: the lock moves when it has ended, however long that takes.
  const drainMs = Number.POSITIVE_INFINITY;
  const { endpoints, prefix } = place;
  await reach(etcd, endpoints);
  const isNew = !(await hasConfig(etcd, prefix));
  const slots = isNew ? { slots: newSlotCount } : {};
  const ring = await Ring.open({ etcd, endpoints, prefix, ttlMs, drainMs, ...slots });
  try {
    const name = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
    await ring.addMember(name, { onlyFor: key });
    const lock = await waitFor(ring, key, io);
    return await runUnder(lock, [program, ...given], io);
  } finally {
    await ring.close();
  }
}

function ttlOf(text: string | undefined): number {
  const ms = text === undefined ? 5000 : duration('--ttl', text);
  if (ms >= 1000 && ms <= ttlMsMax) return ms;
  throw new UsageError(`--ttl must be from 1s to 1h, not ${text ?? ms}.`);
}

async function waitFor(ring: Ring, key: string, io: Io): Promise<Lock> {
  // Durable, so that `carillon ring status` and dashboards can show the holder and the waiters.
  const waiting = ring.lock(key, { signal: io.signal, durable: true });
  const first = await Promise.race([waiting, sleep(300)]);
  if (first === undefined) io.err(`carillon lock: waiting for "${key}".`);
  return waiting;
}

async function runUnder(
  lock: Lock,
  words: readonly [string, ...string[]],
  io: Io,
): Promise<number> {
  await using held = lock;
  const [program, ...given] = words;
  const env = { ...io.env, CARILLON_LOCK_TOKEN: String(held.token) };
  const child = spawn(program, given, { stdio: 'inherit', env });
  const stop = (): void => stopChild(child);
  held.lost.addEventListener('abort', stop, { once: true });
  io.signal.addEventListener('abort', stop, { once: true });
  const code = await exitCode(child, program, io);
  if (!held.lost.aborted) return code;
  io.err(`carillon lock: the lock on "${lock.key}" was lost, ${program} was stopped.`);
  return exit.failed;
}

function stopChild(child: ChildProcess): void {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  child.once('exit', () => clearTimeout(timer));
}

/**
 * As a shell would see it: 128 and the number of the signal, 127 when there is no such program, 126 when it cannot be
 * run.
 */
function exitCode(child: ChildProcess, program: string, io: Io): Promise<number> {
  return new Promise((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT';
      const reason = error.code === 'EACCES' ? 'this user may not run it' : error.message;
      io.err(
        isMissing
          ? `carillon lock: There is no program "${program}".`
          : `carillon lock: The program "${program}" cannot be started: ${reason}.`,
      );
      resolve(isMissing ? 127 : 126);
    });
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signalNumbers[signal ?? ''] ?? 0)));
  });
}

export const command: Command = {
  name: 'lock',
  summary: 'Run a command while holding a lock on etcd.',
  usage,
  examples: [
    'carillon lock nightly-export -- ./export.sh',
    'carillon lock demo --etcd http://127.0.0.1:2379 --ttl 3s -- sleep 30',
  ],
  run,
};
