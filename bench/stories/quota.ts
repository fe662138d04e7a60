/**
 * The default quotas of an AWS account for EventBridge Scheduler in a large region, all at once: ten million schedules,
 * 5,000 creates a second, 1,000 invocations a second. EventBridge promises them within 60 s.
 */
import type { Column, Section } from '../page/section.ts';
import { type Context, failed, rowOf } from '../workloads/workload.ts';
import { graceMs, onLargeMember, overTime, popValues, storyColumns, watched } from './story.ts';

const createsPerSecond = 5000;
const popsPerSecond = 1000;
const aheadMs = 10_000;
/** Timers that only wait have indices above all that pop. */
const waitingIndex = 1_000_000_000;
const farMs = 24 * 3_600_000;

const columns: readonly Column[] = [
  ...storyColumns,
  { key: 'pendingMiB', title: 'with all pending, MiB', unit: 'count', better: 'less' },
];

export async function quota(context: Context): Promise<readonly Section[]> {
  const { seconds, pendingCount } = context.sizes.stories;
  const told = await story(context).catch((error: unknown) => ({ ...failed(error), charts: [] }));
  const label = 'all three quotas at once';
  return [
    {
      id: 'quota',
      title: 'Story · The quota of an account',
      what: `${pendingCount} timers pending, ${createsPerSecond} sets and ${popsPerSecond} pops a second for ${seconds} s, on one member that syncs to disk: the default quotas of EventBridge Scheduler, whose promise is 60 s.`,
      columns,
      rows: [rowOf({ name: 'quota', label, kind: 'ours' }, columns, told.values, told.note)],
      headline: null,
      charts: told.charts,
      notes: [
        'Sets by set of @carillon/client, one timer a call; calls that are made while others are on their way go together. Callbacks are single: receiver takes one pop in a request.',
        `The pending timers are set in bulk before, and weighed after a rest. Limits of the member are raised for them. A fifth of the sets is due in ${aheadMs / 1000} s, the others in a day.`,
      ],
    },
  ];
}

function story({ sizes, tell }: Context) {
  const { seconds, pendingCount } = sizes.stories;
  const timerCount = popsPerSecond * seconds;
  return onLargeMember(1, async (session) => {
    tell(`${pendingCount} timers …`);
    const far = { due: { inMs: farMs }, firstIndex: waitingIndex };
    await session.run({ ...far, call: 'setMany', count: pendingCount });
    const pendingBytes = await session.restingBytes(sizes.footprint.settleMs);
    await session.expect({ timerCount });
    tell(`${createsPerSecond} sets and ${popsPerSecond} pops a second for ${seconds} s …`);
    const waitingPerSecond = createsPerSecond - popsPerSecond;
    const { result, cost } = await watched(session, async () => {
      const [popping, waiting] = await Promise.all([
        session.runAnyway({
          call: 'set',
          count: timerCount,
          due: { inMs: aheadMs },
          paceMs: 1000 / popsPerSecond,
        }),
        session.runAnyway({
          ...far,
          call: 'set',
          count: waitingPerSecond * seconds,
          paceMs: 1000 / waitingPerSecond,
        }),
      ]);
      const arrivals = await session.arrivals(popping.count, Date.now() + aheadMs + graceMs);
      return { popping, waiting, arrivals };
    });
    const { popping, waiting, arrivals } = result;
    const values = {
      ...popValues(arrivals, popping.count),
      ...cost,
      setsPerSecond: popping.count / popping.seconds + waiting.count / waiting.seconds,
      popsPerSecond: arrivals.arrived / popping.seconds,
      refused: popping.failed + waiting.failed,
      pendingMiB: Math.round(pendingBytes / 2 ** 20),
    };
    const title = 'The quota of an account · Lateness over time';
    return { values, note: undefined, charts: [overTime('quota', title, arrivals)] };
  });
}
