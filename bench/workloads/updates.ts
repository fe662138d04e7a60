/** W6: the session refresh pattern, a few timers put off again and again. */
import type { Column, Section } from '../page/section.ts';
import type { System } from '../systems/system.ts';
import { throughLibrary } from '../systems/with-setter.ts';
import { otherWays } from './ways.ts';
import { type Session, withSession } from './session.ts';
import { type Context, inProcess, type Measured, rowsOf } from './workload.ts';

const columns: readonly Column[] = [
  { key: 'perSecond', title: 'updates', unit: 'perSecond', better: 'more' },
  { key: 'serverMicros', title: 'CPU of the system an update', unit: 'micros', better: 'less' },
  { key: 'clientMicros', title: 'CPU of the client an update', unit: 'micros', better: 'less' },
  { key: 'count', title: 'updates made', unit: 'count', better: 'neither' },
];

export async function updates(context: Context): Promise<readonly Section[]> {
  const { timerCount, updateCount, limitMs } = context.sizes.updates;
  const one = (system: Pick<System, 'start'>) =>
    withSession(system, (session) => refreshes(session, context));
  const rows = await rowsOf(context, columns, (system) => one(throughLibrary(system)));
  return [
    {
      id: 'updates',
      title: 'W6 · Updates',
      what: `${updateCount} updates that put ${timerCount} timers off by an hour, single calls, 64 in flight, through the library of each system; a system that is not through after ${limitMs / 1000} s is stopped and its rate so far counts. Each is warmed up for as long as with sets.`,
      columns,
      rows: [...rows, ...(await otherWays(context, columns, one))],
      headline: { column: 'perSecond', reference: 'carillon' },
      charts: [
        {
          kind: 'bars',
          id: 'updates',
          title: 'W6 · Updates a second',
          column: 'perSecond',
          without: inProcess,
        },
      ],
      notes: [],
    },
  ];
}

async function refreshes(session: Session, { sizes }: Context): Promise<Measured> {
  const { timerCount, updateCount, limitMs } = sizes.updates;
  const updating = { call: 'refresh', timerCount } as const;
  // The first round sets them.
  await session.run({ ...updating, count: timerCount });
  await session.run({ ...updating, count: updateCount, limitMs: sizes.sets.warmMs });
  const timed = await session.run({ ...updating, count: updateCount, limitMs });
  return {
    values: {
      perSecond: timed.count / timed.seconds,
      serverMicros: (timed.serverCpuMs * 1000) / timed.count,
      clientMicros: (timed.cpuMs * 1000) / timed.count,
      count: timed.count,
    },
  };
}
