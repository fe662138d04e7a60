/**
 * The longest turn of the event loop that any one request can bring about: every kind of request that is much work, as large as the
 * limits allow, against the router of a member.
 */
import { longRequests, most } from '../packages/server/src/api/long-requests.contract.ts';
import type { Row, Section } from './page/section.ts';
import { longestTurn } from './support/turn.ts';
import type { Context } from './workloads/workload.ts';

/** Crons take seconds in all, in many short turns. */
const itemCountOfTries = 500;

export async function requests({ tell }: Context): Promise<readonly Section[]> {
  const rows: Row[] = [];
  for (const { name, request } of longRequests({ ...most, itemCount: itemCountOfTries })) {
    const { turnMs, allMs } = await longestTurn(request);
    tell(`${name}: ${turnMs.toFixed(1)} ms`);
    rows.push({ name, label: name, kind: 'ours', values: { turn: turnMs, all: allMs } });
  }
  return [sectionOf(rows)];
}

function sectionOf(rows: readonly Row[]): Section {
  return {
    id: 'requests',
    title: 'One request, as much work as it can be',
    what: 'The longest turn of the event loop while one request is worked on, as large as the limits allow, in CPU time; 500 items where items are the work.',
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
