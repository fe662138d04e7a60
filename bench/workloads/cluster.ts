/**
 * W9: three members, two replicas of each timer, both synced: W1 to W3 again, and once more with a member killed in the
 * middle.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CarillonWay } from '../load/setter.ts';
import type { Chart, Column, Row, Section } from '../page/section.ts';
import { overTime } from '../stories/story.ts';
import { type RunningCluster, startCluster } from '../systems/cluster.ts';
import { withSetter } from '../systems/with-setter.ts';
import { burstOf } from './burst.ts';
import { spreadPops } from './lateness.ts';
import { type Session, withSession } from './session.ts';
import { type Context, failed, type Measured, rowOf } from './workload.ts';

const memberCount = 3;
/** After the instant of the burst: well before it is over. */
const killInBurstMs = 300;

const columns: readonly Column[] = [
  { key: 'setsPerSecond', title: 'W1: sets', unit: 'perSecond', better: 'more' },
  { key: 'setMicros', title: 'CPU of all members a set', unit: 'micros', better: 'less' },
  { key: 'bulkPerSecond', title: 'W1b: sets', unit: 'perSecond', better: 'more' },
  { key: 'p50Ms', title: 'W2: late by, p50', unit: 'ms', better: 'less' },
  { key: 'p99Ms', title: 'p99', unit: 'ms', better: 'less' },
  { key: 'maxMs', title: 'most', unit: 'ms', better: 'less' },
  { key: 'popsPerSecond', title: 'W3: pops', unit: 'perSecond', better: 'more' },
  { key: 'refused', title: 'sets refused', unit: 'count', better: 'less' },
  { key: 'lost', title: 'lost', unit: 'count', better: 'less' },
  { key: 'duplicates', title: 'twice', unit: 'count', better: 'less' },
];

type Values = Record<string, number | null>;

/** Pictures of the first row. */
interface Drawn {
  readonly charts: Chart[];
}

export async function cluster(context: Context): Promise<readonly Section[]> {
  const rows: Row[] = [];
  const drawn: Drawn = { charts: [] };
  for (const [name, label, isKilling] of [
    ['three', 'three members, factor 2', false],
    ['three-killed', 'the same, one member killed in the middle', true],
  ] as const) {
    context.tell(`${label} …`);
    const { values, note } = await measure(context, isKilling, drawn).catch(failed);
    rows.push(rowOf({ name, label, kind: 'ours' }, columns, values, note));
  }
  rows.push(await libraryRow(context));
  return [
    {
      id: 'cluster',
      title: 'W9 · Three members, factor 2',
      what: 'Three members on this machine, each timer on two of them, synced on both before the answer: W1 to W3 again. In the second row a member is killed with SIGKILL in the middle of each; its clients go on with the others. The third row has the same sets through `@carillon/client`.',
      columns,
      rows,
      headline: null,
      charts: [
        { kind: 'bars', id: 'cluster-lateness', title: 'W9 · Lateness, p99', column: 'p99Ms' },
        {
          kind: 'bars',
          id: 'cluster-sets',
          title: 'W9 · Sets a second, single calls',
          column: 'setsPerSecond',
        },
        ...drawn.charts,
      ],
      notes: [
        'Members have known each other for some seconds before the first set.',
        'Members, client and receiver share the same cores: more members do not make it faster here. Lost and twice are summed over W2 and W3.',
      ],
    },
  ];
}

async function measure(context: Context, isKilling: boolean, drawn: Drawn): Promise<Measured> {
  const setting = await onCluster((session, kill) =>
    sets(session, context, isKilling ? kill : null),
  );
  const { spreadMs, leadMs } = context.sizes.lateness;
  const system = { name: 'carillon', label: 'Carillon', kind: 'ours' } as const;
  const spread = await onCluster((session, kill) =>
    meanwhile(
      async () => {
        const pops = await spreadPops(session, context, { system, series: [] });
        const title = `W9 · Lateness over time${isKilling ? ', one member killed' : ''}`;
        const id = isKilling ? 'cluster-killed-seconds' : 'cluster-seconds';
        drawn.charts.push(overTime(id, title, pops.arrivals));
        return pops;
      },
      isKilling ? kill : null,
      leadMs + spreadMs / 2,
    ),
  );
  const burst = await onCluster((session, kill) =>
    meanwhile(
      () => burstOf(session, context),
      isKilling ? kill : null,
      context.sizes.burst.leadMs + killInBurstMs,
    ),
  );
  const sum = (key: string): number => (spread.values[key] ?? 0) + (burst.values[key] ?? 0);
  const { p50Ms = null, p99Ms = null, maxMs = null } = spread.values;
  const popsPerSecond = burst.values['perSecond'] ?? null;
  const counts = { lost: sum('lost'), duplicates: sum('duplicates') };
  return {
    values: { ...setting, p50Ms, p99Ms, maxMs, popsPerSecond, ...counts },
    note: spread.note ?? burst.note,
  };
}

/** Sets through the client library, which sends calls that are made at the same time together. */
async function libraryRow(context: Context): Promise<Row> {
  const label = 'three members, through @carillon/client';
  context.tell(`${label} …`);
  const { values, note } = await onCluster(
    async (session): Promise<Measured> => ({ values: await sets(session, context, null) }),
    'carillon-client',
  ).catch(failed);
  return rowOf({ name: 'three-library', label, kind: 'ours' }, columns, values, note);
}

type Kill = () => Promise<void>;

function onCluster<T>(
  use: (session: Session, kill: Kill) => Promise<T>,
  kind: CarillonWay = 'carillon',
): Promise<T> {
  let running: RunningCluster | null = null;
  const start: Parameters<typeof withSession>[0]['start'] = async (options) => {
    running = await startCluster(options, memberCount);
    return running;
  };
  return withSession(withSetter({ start }, { kind }), (session) =>
    use(session, async () => {
      await running?.kill(memberCount - 1);
    }),
  );
}

async function sets(session: Session, { sizes }: Context, kill: Kill | null): Promise<Values> {
  const { warmMs, limitMs } = sizes.sets;
  const count = 10_000_000;
  await session.run({ call: 'set', count, limitMs: warmMs });
  const single = await meanwhile(
    () => session.runAnyway({ call: 'set', count, limitMs }),
    kill,
    limitMs / 2,
  );
  await session.runAnyway({ call: 'setMany', count, limitMs: warmMs });
  const bulk = await session.runAnyway({ call: 'setMany', count, limitMs });
  return {
    setsPerSecond: single.count / single.seconds,
    // The CPU of a member that was killed is not known any more.
    setMicros: kill === null ? (single.serverCpuMs * 1000) / single.count : null,
    bulkPerSecond: bulk.count / bulk.seconds,
    refused: single.failed + bulk.failed,
  };
}

async function meanwhile<T>(
  work: () => Promise<T>,
  kill: Kill | null,
  afterMs: number,
): Promise<T> {
  const working = work();
  // Waited for below; a failure before that must not end the process.
  working.catch(() => {});
  if (kill !== null) {
    await sleep(afterMs);
    await kill();
  }
  return working;
}
