/**
 * W4: memory per pending timer. W5: CPU while nothing is due. W8: restart. All systems are filled first and then idle
 * at the same time, each watched through its own processes, so that one pause serves all.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { withScratch } from '../support/scratch.ts';
import type { Column, Row, Section } from '../page/section.ts';
import { carillonUnindexed } from '../systems/carillon.ts';
import type { System } from '../systems/system.ts';
import { type Session, startSession } from './session.ts';
import { type Context, failed, rowOf } from './workload.ts';

const memoryColumns: readonly Column[] = [
  { key: 'smallBytes', title: 'memory a timer, few', unit: 'bytes', better: 'less' },
  { key: 'largeBytes', title: 'memory a timer, many', unit: 'bytes', better: 'less' },
  { key: 'peakBytes', title: 'at most while filling, few', unit: 'bytes', better: 'less' },
  { key: 'emptyMiB', title: 'empty, MiB', unit: 'count', better: 'less' },
  { key: 'allMiB', title: 'with all, MiB', unit: 'count', better: 'less' },
];
const idleColumns: readonly Column[] = [
  { key: 'idlePercent', title: 'CPU, of one core', unit: 'percent', better: 'less' },
];
const restartColumns: readonly Column[] = [
  { key: 'restartSeconds', title: 'until it serves', unit: 'seconds', better: 'less' },
  { key: 'memoryRatio', title: 'memory after ÷ before', unit: 'ratio', better: 'less' },
  { key: 'lost', title: 'lost', unit: 'count', better: 'less' },
];
/** How often memory is looked at while it is filled. */
const lookMs = 50;
/** In which the kernel counts CPU. */
const stepMs = 10;
const allColumns = [...memoryColumns, ...idleColumns, ...restartColumns];

interface Filled {
  readonly system: System;
  readonly session: Session | null;
  readonly values: Record<string, number | null>;
  note: string | undefined;
}

export async function footprint(context: Context): Promise<readonly Section[]> {
  const { smallCount, largeCount, restMs } = context.sizes.footprint;
  const rows = await withScratch(async (folder) => {
    const all: Filled[] = [];
    try {
      for (const system of systemsOf(context)) all.push(await startOne(system, folder));
      await weighAll(context, all, 'emptyBytes');
      await each(all, (filled) => fill(context, filled, [0, smallCount]));
      await sleep(restMs);
      await idle(context, all);
      await weighAll(context, all, 'smallBytes');
      await each(all, (filled) => fill(context, filled, [smallCount, largeCount]));
      await weighAll(context, all, 'largeBytes');
      await each(all, (filled) => restart(context, filled));
    } finally {
      for (const { session } of all) await session?.end();
    }
    return all.map(({ system, values, note }) => rowOf(system, allColumns, values, note));
  });
  return sections(context, rows);
}

/** Beside the member as it comes, one without search indexes: the difference is their memory. */
function systemsOf({ systems }: Context): readonly System[] {
  return systems.flatMap((system) =>
    system.name === 'carillon' ? [system, carillonUnindexed] : [system],
  );
}

async function startOne(system: System, folder: string): Promise<Filled> {
  const values: Record<string, number | null> = {};
  try {
    const session = await startSession(system, folder);
    await session.running.work();
    await withoutClient(system, session);
    return { system, session, values, note: undefined };
  } catch (error) {
    return { system, session: null, values, note: failed(error).note };
  }
}

async function each(all: readonly Filled[], work: (filled: Filled) => Promise<void>) {
  for (const filled of all) {
    if (filled.session === null || filled.note !== undefined) continue;
    try {
      await work(filled);
    } catch (error) {
      filled.note = failed(error).note;
    }
  }
}

async function idle({ sizes, tell }: Context, all: readonly Filled[]): Promise<void> {
  const { idleMs } = sizes.footprint;
  tell(`all idle for ${idleMs / 1000} s …`);
  const before = new Map(all.map((filled) => [filled, filled.session?.cpuMs() ?? 0]));
  const startMs = performance.now();
  await sleep(idleMs);
  const tookMs = performance.now() - startMs;
  await each(all, async (filled) => {
    const usedMs = (filled.session?.cpuMs() ?? 0) - (before.get(filled) ?? 0);
    filled.values['idlePercent'] = (Math.max(usedMs, stepMs) / tookMs) * 100;
  });
}

/** Weighs after a pause in which all systems give spare memory back: heap, connections of pools. */
async function weighAll(
  { sizes }: Context,
  all: readonly Filled[],
  key: 'emptyBytes' | 'smallBytes' | 'largeBytes',
): Promise<void> {
  const { smallCount, largeCount, settleMs } = sizes.footprint;
  await sleep(settleMs);
  await each(all, async ({ session, values }) => {
    const bytes = session?.rssBytes() ?? Number.NaN;
    if (key === 'emptyBytes') {
      values[key] = bytes;
      values['emptyMiB'] = mib(bytes);
      return;
    }
    const count = key === 'smallBytes' ? smallCount : largeCount;
    values[key] = (bytes - (values['emptyBytes'] ?? 0)) / count;
    values['allMiB'] = mib(bytes);
  });
}

async function fill(
  { tell }: Context,
  { system, session, values }: Filled,
  [from, to]: readonly [number, number],
): Promise<void> {
  if (session === null) return;
  tell(`${system.label}: ${to} timers …`);
  if (system.kind !== 'baseline') await session.openClient();
  let mostBytes = 0;
  const watching = setInterval(() => {
    mostBytes = Math.max(mostBytes, session.rssBytes());
  }, lookMs);
  try {
    await session.run({ call: 'setMany', count: to - from, firstIndex: from });
  } finally {
    clearInterval(watching);
  }
  mostBytes = Math.max(mostBytes, session.rssBytes());
  if (from === 0) values['peakBytes'] = (mostBytes - (values['emptyBytes'] ?? 0)) / to;
  await withoutClient(system, session);
}

/** Closes the client's connections, so that their cost to a server does not count. A baseline lives in the client. */
async function withoutClient(system: System, session: Session): Promise<void> {
  if (system.kind !== 'baseline') await session.closeClient();
  await session.running.settle();
}

async function restart(context: Context, { system, session, values }: Filled): Promise<void> {
  const run = session?.running.restart ?? null;
  if (session === null || run === null) return;
  context.tell(`${system.label}: restart …`);
  const beforeBytes = session.rssBytes();
  values['restartSeconds'] = await run();
  values['lost'] = context.sizes.footprint.largeCount - (await session.running.pending());
  const afterBytes = await session.restingBytes(context.sizes.footprint.settleMs);
  values['memoryRatio'] = afterBytes / beforeBytes;
}

function sections({ sizes }: Context, rows: readonly Row[]): Section[] {
  const { smallCount, largeCount, restMs, idleMs } = sizes.footprint;
  const few = smallCount.toLocaleString('en').replaceAll(',', ' ');
  const many = largeCount.toLocaleString('en').replaceAll(',', ' ');
  const only = (columns: readonly Column[]): Row[] =>
    rows.map((row) => {
      const values = columns.map(({ key }) => [key, row.values[key] ?? null] as const);
      return { ...row, values: Object.fromEntries(values) };
    });
  return [
    {
      id: 'memory',
      title: 'W4 · Memory per pending timer',
      what: `Resident memory of the server and worker processes with ${few} and ${many} pending timers with 64 bytes of payload, less the memory of an empty system.`,
      columns: memoryColumns,
      rows: only(memoryColumns),
      headline: { column: 'largeBytes', reference: 'carillon' },
      charts: [
        {
          kind: 'bars',
          id: 'memory',
          title: `W4 · Memory per timer, ${many} pending`,
          column: 'largeBytes',
        },
      ],
      notes: [
        'At most while filling is the most that was seen while the few were set in bulk.',
        `Few is ${few}, many is ${many}. PostgreSQL keeps rows in files and as much as fits in its buffers, here a quarter of the memory; files that the operating system caches for it are not counted.`,
      ],
    },
    {
      id: 'idle',
      title: 'W5 · CPU while nothing is due',
      what: `${few} pending timers, none due for an hour, over ${idleMs / 1000} s that begin ${restMs / 1000} s after the last set; servers and workers together.`,
      columns: idleColumns,
      rows: only(idleColumns),
      headline: { column: 'idlePercent', reference: 'carillon' },
      charts: [
        { kind: 'bars', id: 'idle', title: 'W5 · CPU while nothing is due', column: 'idlePercent' },
      ],
      notes: [
        'Work that follows sets once is over by then: a snapshot, a rewritten file, the garbage of the requests. The kernel counts CPU in steps of 10 ms: less than one step is shown as one.',
      ],
    },
    {
      id: 'restart',
      title: 'W8 · Restart',
      what: `Killed with SIGKILL with ${many} pending timers and started again: seconds from the start until it serves, timers that are missing then, and resident memory a while later beside the memory before.`,
      columns: restartColumns,
      rows: only(restartColumns),
      headline: { column: 'restartSeconds', reference: 'carillon' },
      charts: [
        {
          kind: 'bars',
          id: 'restart',
          title: `W8 · Restart with ${many} pending`,
          column: 'restartSeconds',
        },
      ],
      notes: [
        'Systems that keep nothing have no figure. PostgreSQL reads rows when it needs them, and the queues still have to find the jobs that are due.',
      ],
    },
  ];
}

function mib(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
