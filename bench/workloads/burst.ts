/** W3: all timers due at the same instant; how long until the last callback has come. */
import type { Column, Row, Section } from '../page/section.ts';
import { withSetter } from '../systems/with-setter.ts';
import { countColumns } from './pops.ts';
import { type Session, withSession } from './session.ts';
import { type Context, failed, type Measured, rowOf, rowsOf } from './workload.ts';

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
  const rows = await rowsOf(context, columns, (system) =>
    withSession(system, (session) => burstOf(session, context)),
  );
  return [
    {
      id: 'burst',
      title: 'W3 · Burst',
      what: `${timerCount} timers due at the same instant, one HTTP callback each. The rate is that count over the time from the due instant to the last arrival.`,
      columns,
      rows: [...rows, ...(await batchRow(context)), ...(await libraryRows(context))],
      headline: { column: 'perSecond', reference: 'carillon' },
      charts: [
        {
          kind: 'bars',
          id: 'burst',
          title: 'W3 · Pops a second, all due at once',
          column: 'perSecond',
        },
      ],
      notes: [
        'With batch callbacks (`callback.http.batch`) pops that are due together for one URL come in one request, up to 500 of them.',
        'The first rows go to a receiver that costs as little as possible, so that senders are compared. Rows with "to receiver" go to `receiver` of the client library behind `node:http`, which does the same work for every sender; the member and the code are fresh, and the first burst is measured. In the last row `receiver` has answered one pop before: it says in its answers that it takes up to 500 in a request.',
      ],
    },
  ];
}

/** Beside Carillon itself: for receivers that take many pops in one request. */
async function batchRow(context: Context): Promise<Row[]> {
  const member = context.systems.find(({ name }) => name === 'carillon');
  if (member === undefined) return [];
  const label = 'Carillon, batch callbacks';
  context.tell(`${label} …`);
  const { values, note } = await withSession(withSetter(member, { batch: true }), (session) =>
    burstOf(session, context),
  ).catch(failed);
  return [rowOf({ name: 'carillon-batch', label, kind: 'ours' }, columns, values, note)];
}

/** Systems whose callbacks go to the receiver of the client library as well, each pop by itself. */
const toReceiver: ReadonlySet<string> = new Set([
  'carillon',
  'bullmq',
  'pg-boss',
  'graphile',
  'settimeout',
]);

/** To the receiver of the client library: each pop by itself from every system, and as many in a request as it says. */
async function libraryRows(context: Context): Promise<Row[]> {
  const systems = context.systems.filter(({ name }) => toReceiver.has(name));
  const singly = systems.map((system) => {
    const label = `${system.label}, to receiver`;
    return { system, label, batchCountMax: 1, of: burstOf };
  });
  const together = systems
    .filter(({ name }) => name === 'carillon')
    .map((system) => {
      const label = `${system.label}, to receiver, up to 500 pops in a request`;
      return { system, label, batchCountMax: 500, of: warmBurstOf };
    });
  const rows: Row[] = [];
  for (const { system, label, batchCountMax, of } of [...singly, ...together]) {
    context.tell(`${label} …`);
    const { values, note } = await withSession(system, (session) => of(session, context), {
      batchCountMax,
    }).catch(failed);
    const name = `${system.name}-receiver-${batchCountMax}`;
    // Beside the rows of the systems themselves: only these are compared with each other.
    const kind = system.kind === 'peer' ? 'baseline' : system.kind;
    rows.push(rowOf({ name, label, kind }, columns, values, note));
  }
  return rows;
}

/** After one pop, by whose answer the member knows the receiver. */
async function warmBurstOf(session: Session, context: Context): Promise<Measured> {
  await session.expect({ timerCount: 1 });
  await session.run({ call: 'set', count: 1, due: { inMs: 1 } });
  await session.arrivals(1, Date.now() + graceMs);
  return burstOf(session, context);
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
