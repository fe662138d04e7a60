/**
 * One member per folder: a lock file that names the process holding it. A lock whose process is gone is
 * taken over, so that a member starts again after kill -9 without help. Process numbers are reused, hence
 * the start time and the boot beside them. Two machines (or containers that do not see each other's
 * processes) sharing one folder cannot be told apart this way.
 */
import { copyFile, link, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sentenceOf } from '../errors.ts';

export const lockName = 'lock';

interface Holder {
  readonly pid: number;
  /** Ticks from boot to the start of the process; null where the system does not tell. */
  readonly started: string | null;
  readonly boot: string | null;
}

/** Thrown when another process has the folder. */
export class FolderInUseError extends Error {
  override readonly name = 'FolderInUseError';
}

/** Locks the folder; rejects with FolderInUseError when a live process holds it. Returns the release. */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, lockName);
  const mine = `${path}.${crypto.randomUUID()}`;
  const text = JSON.stringify(await describe(process.pid));
  await writeFile(mine, text, { mode: 0o600 }).catch((cause: unknown) => {
    throw new Error(`Could not write to the folder ${folder}: ${reasonOf(cause)}.`, { cause });
  });
  try {
    await acquire(path, mine);
  } finally {
    await removeIfThere(mine);
  }
  return () => removeIfThere(path);
}

/** Puts the finished lock file in place in one step: no process ever reads half a lock. */
async function acquire(path: string, mine: string): Promise<void> {
  if (await linked(mine, path)) return;
  const holder = await readHolder(path);
  if (holder !== null && (await isAlive(holder))) throw inUse(path, holder);
  await takeOver(path, mine);
}

/** Replaces a stale lock. When several processes find the lock stale, a second lock lets only one replace it. */
async function takeOver(path: string, mine: string): Promise<void> {
  const guard = `${path}.takeover`;
  const guardian = await readHolder(guard);
  if (guardian !== null && !(await isAlive(guardian))) await removeIfThere(guard);
  if (!(await linked(mine, guard))) throw inUse(path, await readHolder(guard));
  try {
    const holder = await readHolder(path);
    if (holder !== null && (await isAlive(holder))) throw inUse(path, holder);
    await copyFile(mine, `${mine}.copy`);
    await rename(`${mine}.copy`, path);
  } finally {
    await removeIfThere(guard);
  }
}

function inUse(path: string, holder: Holder | null): FolderInUseError {
  const who = holder === null ? 'another process' : `process ${holder.pid}`;
  return new FolderInUseError(
    `The data folder is in use by ${who} (${path}). Each member needs a folder of its own.`,
  );
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function describe(pid: number): Promise<Holder> {
  return { pid, started: await startOf(pid), boot: await bootOf() };
}

/** A holder that cannot be read is not alive: a lock is only ever put in place whole. */
async function readHolder(path: string): Promise<Holder | null> {
  try {
    const holder = JSON.parse(await readFile(path, 'utf8')) as Partial<Holder> | null;
    if (typeof holder?.pid !== 'number') return null;
    return { pid: holder.pid, started: holder.started ?? null, boot: holder.boot ?? null };
  } catch {
    return null;
  }
}

async function isAlive(holder: Holder): Promise<boolean> {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // Not allowed to signal it: then it is there.
    if (codeOf(error) !== 'EPERM') return false;
  }
  const present = await describe(holder.pid);
  return holder.started === present.started && holder.boot === present.boot;
}

/** The 22nd field of the process's state line; the second may hold spaces but ends with the last bracket. */
async function startOf(pid: number): Promise<string | null> {
  const line = await readIfThere(`/proc/${pid}/stat`);
  return line?.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

async function bootOf(): Promise<string | null> {
  return (await readIfThere('/proc/sys/kernel/random/boot_id'))?.trim() ?? null;
}

async function readIfThere(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null);
}

async function removeIfThere(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
}

/** `read-only file system` of `EROFS: read-only file system, open '/data/lock.839f'`: that file is no user's. */
function reasonOf(cause: unknown): string {
  const [, reason = ''] = sentenceOf(cause).split(': ');
  return reason.split(',')[0] ?? reason;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
