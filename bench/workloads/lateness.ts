/** W2: timers due evenly over ten seconds, an HTTP callback each; the receiver tells how late each one came. */
import type { Arrivals } from '../load/arrivals.ts';
import type { Column, Section, Series } from '../page/section.ts';
import type { System } from '../systems/system.ts';
import { countColumns, latenessColumns, latenessSeries, latenessValues } from './pops.ts';
import { type Session, withSession } from './session.ts';
import { type Context, type Measured, rowsOf } from './workload.ts';

const columns: readonly Column[] = [
  ...latenessColumns,
  { key: 'minMs', title: 'least', unit: 'ms', better: 'neither' },
  ...countColumns,
  { key: 'popMicros', title: 'CPU of the system a pop', unit: 'micros', better: 'less' },
];
/** How long after the last due time a pop counts as lost. */
const graceMs = 20_000;

export async function lateness(context: Context): Promise<readonly Section[]> {
  const series: Series[] = [];
  const { timerCount, spreadMs } = context.sizes.lateness;
  const rows = await rowsOf(context, columns, (system) =>
    withSession(system, (session) => spreadPops(session, context, { system, series })),
  );
  return [
    {
      id: 'lateness',
      title: 'W2 · Lateness',
      what: `${timerCount} timers due evenly over ${spreadMs / 1000} s, one HTTP callback each; the receiver, a process of its own, records arrival − due.`,
      columns,
      rows,
      headline: { column: 'p99Ms', reference: 'carillon' },
      charts: [
        { kind: 'bars', id: 'lateness', title: 'W2 · Lateness, p99', column: 'p99Ms' },
        {
          kind: 'lines',
          id: 'lateness-shares',
          title: 'W2 · Share of callbacks that were not later',
          x: { title: 'late by', scale: 'log', unit: 'ms' },
          y: { title: 'share of the callbacks', scale: 'linear', unit: 'percent' },
          series,
        },
      ],
      notes: [],
    },
  ];
}

interface Into {
  readonly system: Pick<System, 'name' | 'label' | 'kind'>;
  readonly series: Series[];
}

export async function spreadPops(
  session: Session,
  { sizes }: Pick<Context, 'sizes'>,
  { system, series }: Into,
): Promise<Measured & { readonly arrivals: Arrivals }> {
  const { timerCount, spreadMs, leadMs } = sizes.lateness;
  await session.running.work();
  await session.expect({ timerCount });
  const firstMs = Date.now() + leadMs;
  const due = { firstMs, stepMs: spreadMs / timerCount };
  await session.run({ call: 'setMany', count: timerCount, due });
  const isLate = Date.now() > firstMs;
  const before = session.cpuMs();
  const arrivals = await session.arrivals(timerCount, firstMs + spreadMs + graceMs);
  series.push(latenessSeries(system, arrivals));
  return {
    values: {
      ...latenessValues(arrivals),
      minMs: arrivals.latenessMs.min,
      lost: timerCount - arrivals.timers,
      duplicates: arrivals.duplicates,
      popMicros: ((session.cpuMs() - before) * 1000) / arrivals.arrived,
    },
    note: isLate ? 'the first were due before all were set' : undefined,
    arrivals,
  };
}
