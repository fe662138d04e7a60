/**
 * The longest turn of the event loop that any one request can bring about: every kind of request that is much work, as large as the
 * limits allow, against the router of a member.
 */
import { SystemClock } from '@carillon/core/system';
import { longRequests, most } from '../packages/server/src/api/long-requests.contract.ts';
import { testApi } from '../packages/server/src/api/stand-in.contract.ts';
import type { Row, Section } from './page/section.ts';
import type { Context } from './workloads/workload.ts';

const triesUsual = 3;
/** Crons take seconds in all, in many short turns. */
const itemCountOfTries = 500;

export async function requests({ tell }: Context): Promise<readonly Section[]> {
  const rows: Row[] = [];
  for (const { name, request } of longRequests({ ...most, itemCount: itemCountOfTries })) {
    let turnMs = Number.POSITIVE_INFINITY;
    let allMs = Number.POSITIVE_INFINITY;
    for (let i = 0; i < triesUsual; i++) {
      const took = await measured(request());
      turnMs = Math.min(turnMs, took.turnMs);
      allMs = Math.min(allMs, took.allMs);
    }
    tell(`${name}: ${turnMs.toFixed(1)} ms`);
    rows.push({ name, label: name, kind: 'ours', values: { turn: turnMs, all: allMs } });
  }
  return [sectionOf(rows)];
}

type Asked = Parameters<ReturnType<typeof testApi>['router']['handle']>[0];

/** The least of several tries counts: other work of the machine only adds to a turn of the event loop. */
async function measured(request: Asked): Promise<{ turnMs: number; allMs: number }> {
  const { router } = testApi();
  const clock = new SystemClock();
  let turnMs = 0;
  let lastMs = clock.now();
  const startMs = lastMs;
  let over = false;
  const look = (): void => {
    const nowMs = clock.now();
    turnMs = Math.max(turnMs, nowMs - lastMs);
    lastMs = nowMs;
    if (!over) clock.soon(look);
  };
  clock.soon(look);
  await router.handle(request);
  over = true;
  look();
  return { turnMs, allMs: clock.now() - startMs };
}

function sectionOf(rows: readonly Row[]): Section {
  return {
    id: 'requests',
    title: 'One request, as much work as it can be',
    what: 'The longest turn of the event loop while one request is worked on, as large as the limits allow; 500 items where items are the work.',
    columns: [
      { key: 'turn', title: 'longest turn', unit: 'ms', better: 'less' },
      { key: 'all', title: 'until the answer', unit: 'ms', better: 'less' },
    ],
    rows,
    headline: null,
    charts: [],
    notes: [],
  };
}
