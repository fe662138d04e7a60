/** W1: sets in single calls, 64 in flight, 64-byte payload, due in an hour. W1b: the same in bulk of 500. */
import { join } from 'node:path';
import type { Load } from '../load/load.ts';
import { ServerProcess } from '../support/server-process.ts';
import type { Column, Row, Section } from '../page/section.ts';
import type { System } from '../systems/system.ts';
import { throughLibrary, withSetter } from '../systems/with-setter.ts';
import { otherWays } from './ways.ts';
import { type Session, withSession } from './session.ts';
import { type Context, failed, inProcess, type Measured, rowOf, rowsOf } from './workload.ts';

const columns: readonly Column[] = [
  { key: 'perSecond', title: 'sets', unit: 'perSecond', better: 'more' },
  { key: 'serverMicros', title: 'CPU of the system a set', unit: 'micros', better: 'less' },
  { key: 'clientMicros', title: 'CPU of the client a set', unit: 'micros', better: 'less' },
];

export async function singleSets(context: Context): Promise<readonly Section[]> {
  const one = (system: Pick<System, 'start'>) => measureSets(system, context, { call: 'set' });
  const rows = await rowsOf(context, columns, (system) => one(throughLibrary(system)));
  const others = await otherWays(context, columns, one);
  const lone = await loneRows(context);
  return [
    {
      id: 'sets',
      title: 'W1 · Sets, single calls',
      what: `One timer a call, due in an hour, 64-byte payload, 64 calls in flight from one client process, through the library of each system, after ${context.sizes.sets.warmMs / 1000} s of the same.`,
      columns,
      rows: [...rows, ...others, ...lone],
      headline: { column: 'perSecond', reference: 'carillon' },
      charts: [
        {
          kind: 'bars',
          id: 'sets',
          title: 'W1 · Sets a second, single calls',
          column: 'perSecond',
          without: inProcess,
        },
      ],
      notes: [
        'CPU of the system is that of the server processes: the member, Redis, or PostgreSQL with its backends. For setTimeout and the heap it is the one process there is.',
        '@carillon/client sends calls that are made while others are on their way in one request; each has its own idempotency key. Plain HTTP has one call in a request, and no key.',
      ],
    },
  ];
}

export async function bulkSets(context: Context): Promise<readonly Section[]> {
  return [
    {
      id: 'bulk',
      title: 'W1b · Sets in bulk of 500',
      what: 'The same timers, 500 in a call, 4 calls in flight, after as long a warm-up.',
      columns,
      rows: await rowsOf(context, columns, (system) =>
        measureSets(system, context, { call: 'setMany' }),
      ),
      headline: { column: 'perSecond', reference: 'carillon' },
      charts: [
        {
          kind: 'bars',
          id: 'bulk',
          title: 'W1b · Sets a second, 500 in a call',
          column: 'perSecond',
          without: inProcess,
        },
      ],
      notes: [],
    },
  ];
}

type SetLoad = Pick<Load, 'call'> & Partial<Pick<Load, 'inFlight'>>;

export function measureSets(
  system: Pick<System, 'start'>,
  context: Context,
  call: SetLoad,
): Promise<Measured> {
  return withSession(system, (session) => timedSets(session, context, call));
}

async function timedSets(session: Session, { sizes }: Context, call: SetLoad): Promise<Measured> {
  const { warmMs, limitMs } = sizes.sets;
  const count = 10_000_000;
  await session.run({ ...call, count, limitMs: warmMs });
  const timed = await session.run({ ...call, count, limitMs });
  const values = {
    perSecond: timed.count / timed.seconds,
    serverMicros: (timed.serverCpuMs * 1000) / timed.count,
    clientMicros: (timed.cpuMs * 1000) / timed.count,
  };
  return { values };
}

/** One call at a time through the library and by fetch, and the cost of an HTTP exchange that does nothing. */
async function loneRows(context: Context): Promise<Row[]> {
  const member = context.systems.find(({ name }) => name === 'carillon');
  if (member === undefined) return [];
  const lone = { call: 'set', inFlight: 1 } as const;
  const asked = [
    {
      name: 'lone-client',
      label: 'Carillon, one call at a time',
      kind: 'ours',
      system: throughLibrary(member),
      call: lone,
    },
    {
      name: 'lone-fetch',
      label: 'Carillon, one call at a time by fetch',
      kind: 'ours',
      system: withSetter(member, { kind: 'carillon-fetch' }),
      call: lone,
    },
    {
      name: 'empty',
      label: 'an empty node:http exchange, pipelined',
      kind: 'baseline',
      system: emptyServer,
      call: { call: 'set' },
    },
  ] as const;
  const rows: Row[] = [];
  for (const { name, label, kind, system, call } of asked.slice(0, context.sizes.sets.wayCount)) {
    context.tell(`${label} …`);
    const { values, note } = await measureSets(system, context, call).catch(failed);
    rows.push(rowOf({ name, label, kind }, columns, values, note));
  }
  return rows;
}

const emptyServer: Pick<System, 'start'> = {
  start: async ({ uri }) => {
    const server = await ServerProcess.start(
      join(import.meta.dirname, '../support/empty-server.ts'),
    );
    return {
      pids: () => [server.pid],
      setter: { kind: 'carillon', urls: [server.url.href], uri, factor: 1 },
      work: async () => {},
      settle: async () => {},
      pending: async () => 0,
      restart: null,
      stop: () => server.end(),
    };
  },
};
