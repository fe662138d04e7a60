/** W7: timers that pop every second for a minute. */
import type { Column, Section } from '../page/section.ts';
import { latenessColumns, latenessValues } from './pops.ts';
import { type Session, withSession } from './session.ts';
import { type Context, type Measured, rowsOf } from './workload.ts';

const everyMs = 1000;
const graceMs = 5000;
const columns: readonly Column[] = [
  { key: 'delivered', title: 'delivered', unit: 'percent', better: 'more' },
  ...latenessColumns,
  { key: 'popMicros', title: 'CPU of the system a pop', unit: 'micros', better: 'less' },
  { key: 'duplicates', title: 'twice', unit: 'count', better: 'less' },
];

export async function recurring(context: Context): Promise<readonly Section[]> {
  const { timerCount, times } = context.sizes.recurring;
  // A minute each: of the two in one process, the one that people would write is enough.
  const systems = context.systems.filter(({ name }) => name !== 'heap');
  return [
    {
      id: 'recurring',
      title: 'W7 · Recurring timers',
      what: `${timerCount} timers, each every second for ${times} s, one HTTP callback each time; phases spread evenly. Delivered is the share of the ${timerCount * times} callbacks that came within ${graceMs / 1000} s of the end.`,
      columns,
      rows: await rowsOf({ ...context, systems }, columns, (system) =>
        withSession(system, (session) => recur(session, context)),
      ),
      headline: { column: 'p99Ms', reference: 'carillon' },
      charts: [
        { kind: 'bars', id: 'recurring', title: 'W7 · Lateness, p99', column: 'p99Ms' },
        {
          kind: 'bars',
          id: 'recurring-cpu',
          title: 'W7 · CPU of the system a pop',
          column: 'popMicros',
        },
      ],
      notes: [
        'BullMQ repeats with a job scheduler a timer. pg-boss and graphile-worker schedule by the minute; there each run sets the next one (pg-boss in bulk for each batch).',
      ],
    },
  ];
}

async function recur(session: Session, { sizes }: Context): Promise<Measured> {
  const { timerCount, times, spreadMs } = sizes.recurring;
  await session.running.work();
  await session.expect({ timerCount });
  const before = session.cpuMs();
  const endMs = Date.now() + spreadMs + times * everyMs + graceMs;
  const paceMs = spreadMs / timerCount;
  await session.run({ call: 'recur', count: timerCount, paceMs, recurring: { everyMs, times } });
  const arrivals = await session.arrivals(timerCount * times, endMs);
  return {
    values: {
      delivered: (arrivals.arrived / (timerCount * times)) * 100,
      ...latenessValues(arrivals),
      popMicros: ((session.cpuMs() - before) * 1000) / arrivals.arrived,
      duplicates: arrivals.duplicates,
    },
  };
}
