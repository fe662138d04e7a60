/**
 * The cost of processes and all their children, as the kernel counts it in /proc: CPU time and memory. A database is
 * many processes that share memory, so a shared page counts once.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Of the counters in /proc, on every Linux that Node runs on. */
const ticksPerSecond = 100;

interface Stat {
  readonly parent: number;
  readonly ownTicks: number;
  /** Of children that have ended and were waited for. */
  readonly endedTicks: number;
}

/** User and system time so far, of all threads of the processes, their children, and their ended children. */
export function cpuMs(roots: readonly number[]): number {
  const stats = readStats();
  const ticks = treeOf(roots, stats).reduce((sum, pid) => {
    const { ownTicks = 0, endedTicks = 0 } = stats.get(pid) ?? {};
    return sum + ownTicks + endedTicks;
  }, 0);
  return (ticks * 1000) / ticksPerSecond;
}

/** Threads of Node that compile and collect garbage beside the code, whenever they find it best. */
const aside = new Set(['V8Worker', 'DelayedTaskSche']);

/** CPU time so far of the code of Node processes, to microseconds: without their children and the threads of V8. */
export function codeMs(pids: readonly number[]): number {
  let nanos = 0;
  for (const pid of pids) {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const folder = `/proc/${pid}/task/${thread}`;
      if (aside.has(read(`${folder}/comm`).trim())) continue;
      nanos += Number(read(`${folder}/schedstat`).split(' ', 1)[0]);
    }
  }
  return nanos / 1e6;
}

/**
 * Resident bytes. Shared memory is split among the processes that share it; program files count in full for each
 * process.
 */
export function rssBytes(roots: readonly number[]): number {
  return treeOf(roots, readStats()).reduce((sum, pid) => {
    const status = read(`/proc/${pid}/status`);
    const own = kib(status, 'RssAnon') + kib(status, 'RssFile');
    const isSharing = kib(status, 'RssShmem') > 0;
    const shared = isSharing ? kib(read(`/proc/${pid}/smaps_rollup`), 'Pss_Shmem') : 0;
    return sum + (own + shared) * 1024;
  }, 0);
}

/** The processes and all their children. */
export function processTree(roots: readonly number[]): number[] {
  return treeOf(roots, readStats());
}

export function isRunning(pid: number): boolean {
  return read(`/proc/${pid}/stat`) !== '';
}

function readStats(): Map<number, Stat> {
  const stats = new Map<number, Stat>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const text = read(`/proc/${name}/stat`);
    if (text === '') continue;
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    stats.set(Number(name), {
      parent: Number(fields[1]),
      ownTicks: Number(fields[11]) + Number(fields[12]),
      endedTicks: Number(fields[13]) + Number(fields[14]),
    });
  }
  return stats;
}

function treeOf(roots: readonly number[], stats: ReadonlyMap<number, Stat>): number[] {
  const tree = new Set(roots);
  for (let before = 0; before !== tree.size; ) {
    before = tree.size;
    for (const [pid, { parent }] of stats) if (tree.has(parent)) tree.add(pid);
  }
  return [...tree];
}

/** Empty when the process has just ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function kib(text: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
}
