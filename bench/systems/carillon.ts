/** One member of Carillon as it comes (synced to disk before the answer), and one in memory. */
import { ServerProcess } from '../support/server-process.ts';
import type { Running, StartOptions, System } from './system.ts';

async function start({ uri }: StartOptions, flags: readonly string[]): Promise<Running> {
  const all = ['--listen', '127.0.0.1:0', ...flags];
  let member = await ServerProcess.member(all);
  const { href } = member.url;
  const isKept = flags.includes('--data');
  return {
    pids: () => [member.pid],
    setter: { kind: 'carillon', urls: [href], uri, factor: 1 },
    work: async () => {},
    settle: async () => {},
    pending: () => pendingAt(member.url),
    restart: isKept
      ? async () => {
          await member.end('SIGKILL');
          const startMs = performance.now();
          member = await ServerProcess.member(all);
          return (performance.now() - startMs) / 1000;
        }
      : null,
    stop: () => member.end('SIGKILL'),
  };
}

export async function pendingAt(url: URL): Promise<number> {
  const metrics = await (await fetch(new URL('/metrics', url))).text();
  return Number(/^carillon_timers\{state="pending"\} (\d+)/m.exec(metrics)?.[1]);
}

export const carillon: System = {
  name: 'carillon',
  label: 'Carillon, synced to disk',
  kind: 'ours',
  prepare: async () => null,
  start: (options) => start(options, ['--data', options.folder]),
};

export const carillonInMemory: System = {
  name: 'carillon-memory',
  label: 'Carillon, in memory',
  kind: 'ours',
  prepare: async () => null,
  start: (options) => start(options, ['--memory']),
};

/** For the memory that the search indexes take. */
export const carillonUnindexed: System = {
  ...carillon,
  name: 'carillon-unindexed',
  label: 'Carillon, search.indexes: off',
  start: (options) => start(options, ['--data', options.folder, '--search-indexes', 'off']),
};

const recordCountMax = 200_000_000;
const roomy: readonly string[] = [
  '--limits-pending-timer-count-max',
  String(recordCountMax),
  '--namespaces',
  JSON.stringify({ '*': { timerCountMax: recordCountMax, bytesMax: 64 * 2 ** 30 } }),
];

/** Synced to disk, with room for tens of millions of records: tombstones are kept for an hour or a day, and count. */
export const largeMember: Pick<System, 'start'> = {
  start: (options) => start(options, ['--data', options.folder, ...roomy]),
};
