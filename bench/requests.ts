/**
 * The longest turn of the event loop that any one request can bring about: every kind of request that is much work, as
 * large as the limits allow, against the router of a member; and every kind whose work depends on the timers that a
 * member has.
 */
import {
  type LongRequest,
  longRequests,
  most,
} from '../packages/server/src/api/long-requests.contract.ts';
import type { Row, Section } from './page/section.ts';
import { storedMember } from './support/stored.ts';
import { longestTurn, oneTurn } from './support/turn.ts';
import type { Context } from './workloads/workload.ts';

/** Crons take seconds in all, in many short turns. */
const cronCountOfTries = 500;
const triesOfStored = 3;

export async function requests({ tell }: Context): Promise<readonly Section[]> {
  const rows: Row[] = [];
  for (const { name, request } of largest()) {
    const { turnMs, allMs } = await longestTurn(request);
    tell(`${name}: ${turnMs.toFixed(1)} ms`);
    rows.push({ name, label: name, kind: 'ours', values: { turn: turnMs, all: allMs } });
  }
  rows.push(...(await storedRows(tell)));
  return [sectionOf(rows)];
}

/** With as many items as the limits allow, but for crons. */
export function largest(): readonly LongRequest[] {
  const few = longRequests({ ...most, itemCount: cronCountOfTries });
  return longRequests(most).map((all, i) => (all.name.includes('cron') ? (few[i] ?? all) : all));
}

/** Requests whose work depends on the timers that a member has. */
async function storedRows(tell: Context['tell']): Promise<Row[]> {
  const stored = await storedMember();
  const rows: Row[] = [];
  for (const { name, request, before } of stored.shapes) {
    let least = { turnMs: Number.POSITIVE_INFINITY, allMs: Number.POSITIVE_INFINITY };
    for (let i = 0; i < triesOfStored; i++) {
      await before?.();
      const { turnMs, allMs } = await oneTurn(request, stored.handle);
      least = { turnMs: Math.min(least.turnMs, turnMs), allMs: Math.min(least.allMs, allMs) };
    }
    tell(`${name}: ${least.turnMs.toFixed(1)} ms`);
    rows.push({
      name,
      label: name,
      kind: 'ours',
      values: { turn: least.turnMs, all: least.allMs },
    });
  }
  await stored.stop();
  return rows;
}

function sectionOf(rows: readonly Row[]): Section {
  return {
    id: 'requests',
    title: 'One request, as much work as it can be',
    what: 'The longest turn of the event loop while one request is worked on, as large as the limits allow, in CPU time; 10,000 items where items are the work, 500 of crons. Stored: at a member with 10,000 timers, 500 more of 64 KiB, 5,000 dead letters, and a timer that was changed 1,000 times. The tests of the router count, for the same requests, the items that are handled between two turns.',
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
