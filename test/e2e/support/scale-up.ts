/**
 * A fourth member joins three that hold many timers, while others pop all the time: how many timers moved, and how
 * long it took. The test runs it small, `scale-100k.ts` with 100,000 timers.
 */
import { type Whereabouts, whereabouts } from './holders.ts';
import type { Story } from './story.ts';
import { until } from './until.ts';

export interface ScaleUpOptions {
  /** Timers that only lie there. */
  readonly timers: number;
  readonly popsPerSecond: number;
  readonly limitMs: number;
}

export interface ScaleUp {
  readonly after: Whereabouts;
  /** Timers whose primary is another than before. */
  readonly moved: number;
  /** … of them, the ones whose primary is not the new member. */
  readonly movedElsewhere: number;
  /** From the change of the view to the last record in its place. */
  readonly tookMs: number;
  readonly popsMeanwhile: number;
  /** Processor time of all four members meanwhile, pops included. */
  readonly cpuMs: number;
  /** Broken promises, in sentences. */
  readonly broken: readonly string[];
}

const intervalMs = 5000;
const factor = 2;

/** For a story of three members n0, n1, n2 on a members file; n3 joins. */
export async function scaleUp(story: Story, options: ScaleUpOptions): Promise<ScaleUp> {
  const { cluster, recorder } = story;
  const members = cluster.running;
  const ids = await story.setMany(
    Array.from({ length: options.timers }, () => ({ intervalMs: 3_600_000, count: 1, factor })),
  );
  let before = await whereabouts(members, ids, factor);
  // A busy machine gives some timers a third copy at first.
  await until('two copies of every timer', options.limitMs, async () => {
    if (before.wrong.length > 0) before = await whereabouts(members, ids, factor);
    return before.wrong.length === 0;
  });
  await story.setMany(popping(options.popsPerSecond));
  await until('pops go on', 60_000, () => recorder.calls.length > options.popsPerSecond);

  const added = cluster.add('n3');
  const phases = Object.fromEntries(members.map(({ name }) => [name, 'active' as const]));
  // It is given nothing yet, so that the time is that of the resync alone.
  cluster.writeMembers({ ...phases, n3: 'leaving' });
  await added.start();
  const callsBefore = recorder.calls.length;
  const cpuBeforeMs = await cpuMs(story);
  const startMs = performance.now();
  cluster.writeMembers({ ...phases, n3: 'active' });
  await until('every record is in its place', options.limitMs, () => settled(story));
  const tookMs = performance.now() - startMs;
  const usedMs = (await cpuMs(story)) - cpuBeforeMs;
  const popsMeanwhile = recorder.calls.length - callsBefore;
  const after = await whereabouts(cluster.running, ids, factor);
  const endMs = performance.now();
  // Looking at all these records kept this process from taking callbacks.
  await until('every due callback has come', options.limitMs, () => story.court.completeAt(endMs));
  const changed = [...after.primaryOf].filter(([id, name]) => before.primaryOf.get(id) !== name);
  const movedElsewhere = changed.filter(([, name]) => name !== 'n3').length;
  const broken = story.court.verdict(endMs);
  const moved = changed.length;
  return { after, moved, movedElsewhere, tookMs, popsMeanwhile, cpuMs: usedMs, broken };
}

async function cpuMs({ cluster }: Story): Promise<number> {
  const seconds = await Promise.all(
    cluster.running.map((member) => member.metric(/^process_cpu_seconds_total /)),
  );
  return 1000 * seconds.reduce((sum, one) => sum + one, 0);
}

/** Recurring timers that outlive the story, so many pops a second together. */
function popping(popsPerSecond: number) {
  const length = (popsPerSecond * intervalMs) / 1000;
  return Array.from({ length }, (_, i) => ({
    intervalMs: Math.round(intervalMs * (0.6 + (0.8 * i) / length)),
    count: 500,
    factor,
  }));
}

async function settled({ cluster }: Story): Promise<boolean> {
  const views = await Promise.all(cluster.running.map((member) => member.cluster()));
  return views.every(
    ({ members, resync, repair }) =>
      members.length === 4 &&
      members.every(({ phase, reachable }) => phase === 'active' && reachable) &&
      !resync.running &&
      repair['under-replicated'] === 0,
  );
}
