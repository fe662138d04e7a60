/**
 * Two billion callbacks a day, the figure that PhonePe tells of its Clockwork (on HBase, RabbitMQ and ZooKeeper): so
 * many are set and popped every second by one member that syncs to disk.
 */
import type { Section } from '../page/section.ts';
import { type Context, failed, rowOf } from '../workloads/workload.ts';
import { graceMs, onLargeMember, overTime, popValues, storyColumns, watched } from './story.ts';

const perSecond = 23_148;
const perDay = '2 000 000 000';
/** From its set to its pop. */
const aheadMs = 10_000;
const together = 500;

export async function twoBillion(context: Context): Promise<readonly Section[]> {
  const { seconds } = context.sizes.stories;
  const timerCount = Math.round(perSecond * seconds);
  const label = `${perDay} a day`;
  context.tell(`${perSecond} set and popped a second for ${seconds} s …`);
  const told = await story(context, timerCount).catch((error: unknown) => {
    return { ...failed(error), charts: [] };
  });
  return [
    {
      id: 'two-billion',
      title: 'Story · Two billion callbacks a day',
      what: `${perSecond} timers set and as many popped every second for ${seconds} s, each ${aheadMs / 1000} s after it was set, on one member that syncs to disk.`,
      columns: storyColumns,
      rows: [
        rowOf({ name: 'two-billion', label, kind: 'ours' }, storyColumns, told.values, told.note),
      ],
      headline: null,
      charts: told.charts,
      notes: [
        `Batched both ways: sets by setMany of @carillon/client, ${together} in a call; callbacks by agreement with receiver, up to ${together} in a request.`,
        'Limits of the member are raised: ended timers are remembered for a day, because setMany has an idempotency key, and count.',
      ],
    },
  ];
}

function story({ sizes }: Context, timerCount: number) {
  return onLargeMember(together, async (session) => {
    await session.expect({ timerCount });
    const { result, cost } = await watched(session, async () => {
      const timed = await session.runAnyway({
        call: 'setMany',
        count: timerCount,
        due: { inMs: aheadMs },
        paceMs: 1000 / perSecond,
        batchLength: together,
        inFlight: 16,
      });
      const arrivals = await session.arrivals(timed.count, Date.now() + aheadMs + graceMs);
      return { timed, arrivals };
    });
    const { timed, arrivals } = result;
    const { seconds } = sizes.stories;
    const values = {
      ...popValues(arrivals, timed.count),
      ...cost,
      setsPerSecond: timed.count / timed.seconds,
      popsPerSecond: arrivals.arrived / Math.max(seconds, timed.seconds),
      refused: timed.failed,
    };
    const title = 'Two billion a day · Lateness over time';
    return { values, note: undefined, charts: [overTime('two-billion', title, arrivals)] };
  });
}
