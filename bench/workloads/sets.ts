/** W1: sets in single calls, 64 in flight, 64-byte payload, due in an hour. W1b: the same in bulk of 500. */
import { join } from 'node:path';
import { ServerProcess } from '../support/server-process.ts';
import type { Column, Row, Section } from '../page/section.ts';
import type { System } from '../systems/system.ts';
import { withSetter } from '../systems/with-setter.ts';
import type { CarillonConfig } from '../load/setter.ts';
import { type Session, withSession } from './session.ts';
import { type Context, failed, inProcess, rowOf, rowsOf } from './workload.ts';

const columns: readonly Column[] = [
  { key: 'perSecond', title: 'sets', unit: 'perSecond', better: 'more' },
  { key: 'serverMicros', title: 'CPU of the system a set', unit: 'micros', better: 'less' },
  { key: 'clientMicros', title: 'CPU of the client a set', unit: 'micros', better: 'less' },
];

export async function singleSets(context: Context): Promise<readonly Section[]> {
  const rows = await rowsOf(context, columns, (system) => measure(system, 'set', context));
  const extra = await extraRows(context);
  return [
    {
      id: 'sets',
      title: 'W1 · Sets, single calls',
      what: 'One timer a call, due in an hour, 64-byte payload, 64 calls in flight from one client process.',
      columns,
      rows: [...rows, ...extra],
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
      ],
    },
  ];
}

export async function bulkSets(context: Context): Promise<readonly Section[]> {
  return [
    {
      id: 'bulk',
      title: 'W1b · Sets in bulk of 500',
      what: 'The same timers, 500 in a call, 4 calls in flight.',
      columns,
      rows: await rowsOf(context, columns, (system) => measure(system, 'setMany', context)),
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

function measure(system: Pick<System, 'start'>, call: 'set' | 'setMany', context: Context) {
  return withSession(system, (session) => timedSets(session, call, context));
}

async function timedSets(session: Session, call: 'set' | 'setMany', { sizes }: Context) {
  const { warmMs, limitMs } = sizes.sets;
  const count = 10_000_000;
  await session.run({ call, count, limitMs: warmMs });
  const timed = await session.run({ call, count, limitMs });
  const values = {
    perSecond: timed.count / timed.seconds,
    serverMicros: (timed.serverCpuMs * 1000) / timed.count,
    clientMicros: (timed.cpuMs * 1000) / timed.count,
  };
  return { values };
}

/** More rows beside Carillon itself: without sharing connections, through its client library, and an HTTP exchange that does nothing. */
async function extraRows(context: Context): Promise<Row[]> {
  const member = context.systems.find(({ name }) => name === 'carillon');
  if (member === undefined) return [];
  context.tell('Carillon through @carillon/client …');
  const through = (kind: CarillonConfig['kind']) =>
    measure(withSetter(member, { kind }), 'set', context).catch(failed);
  const client = await through('carillon-client');
  context.tell('Carillon, a connection for each call …');
  const apart = await through('carillon-apart');
  context.tell('an empty node:http exchange …');
  const empty = await measure(emptyServer, 'set', context).catch(failed);
  const row = (name: string, label: string, kind: Row['kind'], measured: typeof client): Row =>
    rowOf(
      { name, label, kind },
      columns,
      measured.values,
      'note' in measured ? measured.note : undefined,
    );
  return [
    row('carillon-apart', 'Carillon, a connection for each call', 'ours', apart),
    row('carillon-client', 'Carillon through @carillon/client', 'ours', client),
    row('empty', 'an empty node:http exchange', 'baseline', empty),
  ];
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
