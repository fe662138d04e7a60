/** How costs grow: with the number of timers at one member and in its store, and with the number of members. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Axis, Chart, Column, Row, Section, Series, Unit } from '../page/section.ts';
import { Remote } from '../support/remote.ts';
import { carillon } from '../systems/carillon.ts';
import { startCluster } from '../systems/cluster.ts';
import { type Session, withSession } from '../workloads/session.ts';
import { type Context, failed } from '../workloads/workload.ts';
import type { StoreCosts } from './store-growth.ts';

const storeScript = join(import.meta.dirname, 'store-growth.ts');
const roundCount = 4;
const graceMs = 20_000;
/** As many seconds in a row with no more CPU than this. */
const settledSeconds = 6;
const settledMs = 100;
const settleSecondsMax = 60;
/** Indexes from here on belong to the measured timers; lower ones to the timers that wait. */
const measuredFrom = 100_000_000;

const costColumns: readonly Column[] = [
  { key: 'setMicros', title: 'CPU a set', unit: 'micros', better: 'less' },
  { key: 'cancelMicros', title: 'CPU a cancel', unit: 'micros', better: 'less' },
  { key: 'popMicros', title: 'CPU a pop', unit: 'micros', better: 'less' },
  { key: 'idlePercent', title: 'CPU idle, of one core', unit: 'percent', better: 'less' },
];
const storeColumns: readonly Column[] = [
  { key: 'setNs', title: 'set', unit: 'nanos', better: 'less' },
  { key: 'replaceNs', title: 'replace', unit: 'nanos', better: 'less' },
  { key: 'cancelNs', title: 'cancel', unit: 'nanos', better: 'less' },
  { key: 'popNs', title: 'take out due handles', unit: 'nanos', better: 'less' },
  { key: 'bytes', title: 'memory a record', unit: 'bytes', better: 'less' },
];

type Values = Record<string, number>;
type Step = readonly [count: number, values: Values];

export async function growth(context: Context): Promise<readonly Section[]> {
  return [await storeGrowth(context), await timerGrowth(context), await memberGrowth(context)];
}

async function storeGrowth({ sizes, tell }: Context): Promise<Section> {
  const { storeCountMax } = sizes.growth;
  tell(`the store up to ${storeCountMax} …`);
  const remote = new Remote(storeScript);
  const measured = await remote.call<StoreCosts[]>('run', storeCountMax);
  await remote.end();
  const steps = measured.map(({ count, ...values }): Step => [count, values]);
  return {
    id: 'growth-store',
    title: 'Growth · The store of a member',
    what: 'CPU of one operation on records picked at random, wheel and index included, inside one process, without HTTP and journal.',
    columns: storeColumns,
    rows: rowsOf(steps, storeColumns, 'records'),
    headline: null,
    charts: [
      lines({
        id: 'growth-store',
        title: 'Growth · CPU of an operation of the store',
        steps,
        columns: storeColumns.slice(0, 4),
        x: 'records',
        y: 'CPU each',
        unit: 'nanos',
        scale: 'log',
      }),
    ],
    notes: [
      'Every operation touches a fixed number of places. The slope that remains comes from the processor: beyond its caches each place costs a miss.',
      'With few records, memory a record is mostly the room that the store reserves at once.',
    ],
  };
}

async function timerGrowth({ sizes, tell }: Context): Promise<Section> {
  const steps = await withSession(carillon, async (session) => {
    const taken: Step[] = [];
    let filled = 0;
    for (let count = 1000; count <= sizes.growth.timerCountMax; count *= 10) {
      tell(`one member with ${count} timers …`);
      await session.run({ call: 'setMany', count: count - filled, firstIndex: filled });
      filled = count;
      taken.push([count, await costs(session, sizes.growth)]);
    }
    return taken;
  });
  return {
    id: 'growth-timers',
    title: 'Growth · One member with more and more timers',
    what: 'CPU of the member, synced to disk, per single set, cancel and pop over HTTP while so many timers are pending, and while nothing is due.',
    columns: costColumns,
    rows: rowsOf(steps, costColumns, 'timers'),
    headline: null,
    charts: costCharts('growth-timers', 'pending timers', steps, 'log'),
    notes: [
      'Measured when the member has come to rest after it was filled: a snapshot, which it writes when its journal has grown by as much as all timers take, is not in it. Over many sets that is about one record written again for each.',
    ],
  };
}

async function memberGrowth({ sizes, tell }: Context): Promise<Section> {
  const steps: Step[] = [];
  const failures: string[] = [];
  for (const count of sizes.growth.memberCounts) {
    tell(`${count} members …`);
    const start: Parameters<typeof withSession>[0]['start'] = (options) =>
      startCluster(options, count);
    // Nine members on two cores may be too many; the smaller clusters have their figures all the same.
    const { values, note } = await withSession({ start }, async (session) => ({
      values: await costs(session, sizes.growth),
      note: undefined,
    })).catch((error: unknown) => ({ ...failed(error), values: null }));
    if (values === null) failures.push(`${count} members: ${note}.`);
    else steps.push([count, values]);
  }
  return {
    id: 'growth-members',
    title: 'Growth · More and more members',
    what: 'CPU of all members together per single set, cancel and pop with two replicas (one with a single member), and while nothing is due.',
    columns: costColumns,
    rows: rowsOf(steps, costColumns, 'members'),
    headline: null,
    charts: costCharts('growth-members', 'members', steps, 'linear'),
    notes: [
      'All members share the cores of this machine, so only CPU says something here.',
      ...failures,
    ],
  };
}

/** Rounds of sets and cancels of the same timers, then pops, then nothing. */
async function costs(session: Session, sizes: Context['sizes']['growth']): Promise<Values> {
  const { operationCount, idleMs } = sizes;
  const each = operationCount / roundCount;
  await settled(session);
  let setMs = 0;
  let cancelMs = 0;
  for (let round = -1; round < roundCount; round++) {
    const load = { count: each, timerCount: each, firstIndex: measuredFrom };
    const set = await session.run({ call: 'refresh', ...load });
    const cancel = await session.run({ call: 'cancel', ...load });
    // The first round warms up.
    if (round === -1) continue;
    setMs += set.serverCpuMs;
    cancelMs += cancel.serverCpuMs;
  }
  const popMicros = await pops(session, operationCount);
  await settled(session);
  const before = session.cpuMs();
  await sleep(idleMs);
  return {
    setMicros: (setMs * 1000) / operationCount,
    cancelMicros: (cancelMs * 1000) / operationCount,
    popMicros,
    idlePercent: ((session.cpuMs() - before) / idleMs) * 100,
  };
}

/** Waits for the work that follows filling and is not measured: a snapshot, memory given back. */
async function settled(session: Session): Promise<void> {
  for (let quiet = 0, left = settleSecondsMax; quiet < settledSeconds && left > 0; left--) {
    const before = session.cpuMs();
    await sleep(1000);
    quiet = session.cpuMs() - before > settledMs ? 0 : quiet + 1;
  }
}

/** Two seconds of pops. */
async function pops(session: Session, count: number): Promise<number> {
  const leadMs = 1000;
  const spreadMs = 2000;
  await session.expect({ timerCount: count });
  const firstMs = Date.now() + leadMs;
  await session.run({ call: 'setMany', count, due: { firstMs, stepMs: spreadMs / count } });
  const before = session.cpuMs();
  const arrivals = await session.arrivals(count, firstMs + spreadMs + graceMs);
  if (arrivals.timers < count) throw new Error(`${count - arrivals.timers} timers never popped.`);
  return ((session.cpuMs() - before) * 1000) / count;
}

function rowsOf(steps: readonly Step[], columns: readonly Column[], what: string): Row[] {
  return steps.map(([count, values]) => ({
    name: String(count),
    label: `${count.toLocaleString('en').replaceAll(',', ' ')} ${count === 1 ? what.replace(/s$/, '') : what}`,
    kind: 'ours',
    values: Object.fromEntries(columns.map(({ key }) => [key, values[key] ?? null])),
  }));
}

function costCharts(id: string, x: string, steps: readonly Step[], scale: Axis['scale']): Chart[] {
  const common = { x, steps, scale };
  return [
    lines({
      ...common,
      id,
      title: `Growth · CPU of an operation over ${x}`,
      columns: costColumns.slice(0, 3),
      y: 'CPU each',
      unit: 'micros',
    }),
    lines({
      ...common,
      id: `${id}-idle`,
      title: `Growth · CPU while nothing is due over ${x}`,
      columns: costColumns.slice(3),
      y: 'of one core',
      unit: 'percent',
    }),
  ];
}

interface Lines {
  readonly id: string;
  readonly title: string;
  readonly steps: readonly Step[];
  readonly columns: readonly Column[];
  readonly x: string;
  readonly y: string;
  readonly unit: Unit;
  readonly scale: Axis['scale'];
}

function lines({ id, title, steps, columns, x, y, unit, scale }: Lines): Chart {
  const series = columns.map(
    ({ key, title: label }): Series => ({
      name: key,
      label,
      kind: 'ours',
      points: steps.map(([count, values]) => [count, values[key] ?? 0]),
    }),
  );
  return {
    kind: 'lines',
    id,
    title,
    x: { title: x, scale, unit: 'count' },
    y: { title: y, scale: 'linear', unit },
    series,
  };
}
