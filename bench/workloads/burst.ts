/** W3: all timers due at the same instant; how long until the last callback has come. */
import type { Column, Section } from '../page/section.ts';
import { countColumns } from './pops.ts';
import { type Session, withSession } from './session.ts';
import { type Context, type Measured, rowsOf } from './workload.ts';

const columns: readonly Column[] = [
  { key: 'perSecond', title: 'pops', unit: 'perSecond', better: 'more' },
  { key: 'p50Ms', title: 'late by, p50', unit: 'ms', better: 'less' },
  { key: 'maxMs', title: 'the last one', unit: 'ms', better: 'less' },
  ...countColumns,
  { key: 'popMicros', title: 'CPU of the system a pop', unit: 'micros', better: 'less' },
];
const graceMs = 40_000;

export async function burst(context: Context): Promise<readonly Section[]> {
  const { timerCount } = context.sizes.burst;
  return [
    {
      id: 'burst',
      title: 'W3 · Burst',
      what: `${timerCount} timers due at the same instant, one HTTP callback each. The rate is that count over the time from the due instant to the last arrival.`,
      columns,
      rows: await rowsOf(context, columns, (system) =>
        withSession(system, (session) => burstOf(session, context)),
      ),
      headline: { column: 'perSecond', reference: 'carillon' },
      charts: [
        {
          kind: 'bars',
          id: 'burst',
          title: 'W3 · Pops a second, all due at once',
          column: 'perSecond',
        },
      ],
      notes: [],
    },
  ];
}

export async function burstOf(
  session: Session,
  { sizes }: Pick<Context, 'sizes'>,
): Promise<Measured> {
  const { timerCount, leadMs } = sizes.burst;
  await session.running.work();
  await session.expect({ timerCount });
  const firstMs = Date.now() + leadMs;
  await session.run({ call: 'setMany', count: timerCount, due: { firstMs, stepMs: 0 } });
  const isLate = Date.now() > firstMs;
  const before = session.cpuMs();
  const arrivals = await session.arrivals(timerCount, firstMs + graceMs);
  return {
    values: {
      perSecond: arrivals.arrived / ((arrivals.lastMs - firstMs) / 1000),
      p50Ms: arrivals.latenessMs.p50,
      maxMs: arrivals.latenessMs.max,
      lost: timerCount - arrivals.timers,
      duplicates: arrivals.duplicates,
      popMicros: ((session.cpuMs() - before) * 1000) / arrivals.arrived,
    },
    note: isLate ? 'due before all were set' : undefined,
  };
}
