/**
 * Many cron timers that all pop at the same four times, :00, :15, :30 and :45: a question that users of Temporal ask,
 * where it takes 5 to 20 minutes. Here they are the quarters of a minute instead of an hour, so that four of them fit
 * into a minute.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chart, Column, Row, Section } from '../page/section.ts';
import { countColumns, latenessColumns, latenessValues } from '../workloads/pops.ts';
import { type Context, failed, rowOf } from '../workloads/workload.ts';
import { graceMs, onLargeMember, overTime, watched } from './story.ts';

const quarterCount = 4;
/** Of the first quarter, for setting all of them. */
const startMs = 50;

const columns: readonly Column[] = [
  ...latenessColumns.filter(({ key }) => key !== 'maxMs'),
  { key: 'maxMs', title: 'the last one of a quarter', unit: 'ms', better: 'less' },
  { key: 'pops', title: 'pops', unit: 'count', better: 'neither' },
  ...countColumns,
  { key: 'memoryMiB', title: 'memory at most, MiB', unit: 'count', better: 'less' },
];

export async function quarters(context: Context): Promise<readonly Section[]> {
  const { cronCount, cronPattern } = context.sizes.stories;
  const rows: Row[] = [];
  const charts: Chart[] = [];
  for (const [name, label, batchCountMax] of [
    ['single', 'single callbacks', 1],
    ['negotiated', 'up to 500 pops in a request', 500],
  ] as const) {
    context.tell(`${cronCount} crons, ${label} …`);
    const told = await story(context, { name, label, batchCountMax }).catch((error: unknown) => {
      return { ...failed(error), charts: [] };
    });
    rows.push(rowOf({ name, label, kind: 'ours' }, columns, told.values, told.note));
    charts.push(...told.charts);
  }
  return [
    {
      id: 'quarters',
      title: 'Story · Crons at the quarters',
      what: `${cronCount} timers with the pattern ${cronPattern}, ${quarterCount} pops each, on one member that syncs to disk: how late the last callback of a quarter comes.`,
      columns,
      rows,
      headline: null,
      charts,
      notes: [
        'The timers are set in bulk of 500 through @carillon/client. In the second row receiver has said that it takes up to 500 pops in a request; in the first it takes one.',
      ],
    },
  ];
}

interface Way {
  readonly name: string;
  readonly label: string;
  readonly batchCountMax: number;
}

function story({ sizes }: Context, { name, label, batchCountMax }: Way) {
  const { cronCount, cronPattern, cronEveryMs } = sizes.stories;
  return onLargeMember(batchCountMax, async (session) => {
    await session.expect({ timerCount: cronCount });
    await sleep(cronEveryMs - (Date.now() % cronEveryMs) + startMs);
    const lastMs = Math.ceil(Date.now() / cronEveryMs + quarterCount - 1) * cronEveryMs;
    const { result, cost } = await watched(session, async () => {
      await session.run({
        call: 'cron',
        count: cronCount,
        pattern: cronPattern,
        recurring: { everyMs: cronEveryMs, times: quarterCount },
      });
      const isLate = Date.now() > lastMs - (quarterCount - 1) * cronEveryMs;
      const arrivals = await session.arrivals(cronCount * quarterCount, lastMs + graceMs);
      return { arrivals, isLate };
    });
    const { arrivals, isLate } = result;
    const values = {
      ...latenessValues(arrivals),
      pops: arrivals.arrived,
      lost: cronCount * quarterCount - arrivals.arrived,
      duplicates: arrivals.duplicates,
      memoryMiB: cost.memoryMiB,
    };
    const title = `Crons at the quarters, ${label} · Lateness over time`;
    const note = isLate ? 'the first quarter came before all were set' : undefined;
    return { values, note, charts: [overTime(`quarters-${name}`, title, arrivals)] };
  });
}
