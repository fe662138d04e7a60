/**
 * Figures of the kernel about processes: their memory, and how long their threads waited for a processor. Linux only.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface ProcessReading {
  readonly pid: number;
  readonly rssBytes: number;
  /**
   * Thread → nanoseconds in which it could have run and did not, since it began. Only threads that a member waits for.
   */
  readonly waitedNs: ReadonlyMap<string, number>;
}

/** Threads of the engine that compile and collect in the background: waiting costs them nothing else. */
const idlers = new Set(['V8Worker', 'DelayedTaskSche', 'SignalInspector']);
/** The kernel counts stolen time in hundredths of a second. */
const jiffyMs = 10;
const stolenColumn = 8;

/** Why nothing can be read here; null: it can. */
export function procObstacle(): string | null {
  if (existsSync('/proc/self/schedstat')) return null;
  return 'this system has no /proc/PID/schedstat';
}

/** Null: the process has ended. */
export function readProcess(pid: number): ProcessReading | null {
  try {
    const rssBytes = rssOf(readFileSync(`/proc/${pid}/status`, 'utf8'));
    const threads = readdirSync(`/proc/${pid}/task`);
    const waitedNs = new Map(threads.flatMap((thread) => waitedOf(pid, thread)));
    return rssBytes === null ? null : { pid, rssBytes, waitedNs };
  } catch {
    return null;
  }
}

/** Milliseconds that others on the same hardware took from each processor of this machine. */
export function readStolenMs(): number[] {
  return stolenOf(readFileSync('/proc/stat', 'utf8'));
}

export function stolenOf(stat: string): number[] {
  return stat
    .split('\n')
    .filter((line) => /^cpu\d/.test(line))
    .map((line) => Number(line.split(/\s+/)[stolenColumn] ?? 0) * jiffyMs);
}

/** Null for a process that has ended and is not yet forgotten: it has no memory any more. */
export function rssOf(status: string): number | null {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(status);
  return match === null ? null : Number(match[1]) * 1024;
}

/** The second of three figures: time on the processor, time waiting for it, turns. */
export function waitOf(schedstat: string): number {
  return Number(schedstat.split(' ')[1] ?? 0);
}

function waitedOf(pid: number, thread: string): [string, number][] {
  try {
    const name = readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').trim();
    if (idlers.has(name)) return [];
    return [[thread, waitOf(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'))]];
  } catch {
    // It ended between the two looks.
    return [];
  }
}
