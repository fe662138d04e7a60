/** Many timers at once, in batches spread over the members, written down as every other request. */
import { type Operation, opaqueOf, type TimerWish } from '../../../packages/sim/src/history.ts';
import type { Court } from './court.ts';

interface Outcome {
  readonly status: number;
  readonly id?: string;
  readonly copies?: string;
}

export interface BatchOptions {
  readonly court: Court;
  readonly urls: readonly string[];
  /** The receiver. */
  readonly uri: string;
}

const perBatch = 500;

/** Their ids. Throws unless every timer was taken. */
export async function setMany(
  options: BatchOptions,
  wishes: readonly TimerWish[],
): Promise<string[]> {
  const ids: string[] = [];
  for (let from = 0; from < wishes.length; from += perBatch) {
    const url = options.urls[(from / perBatch) % options.urls.length] ?? '';
    ids.push(...(await batch(options, url, wishes.slice(from, from + perBatch))));
  }
  return ids;
}

async function batch(
  { court, uri }: BatchOptions,
  url: string,
  wishes: readonly TimerWish[],
): Promise<string[]> {
  const { history } = court;
  const operations = wishes.map((wish) => history.operation(history.timer(), 'set', wish, false));
  const sentMs = performance.now();
  const body = JSON.stringify(operations.map((operation) => bodyOf(operation, uri)));
  const answer = await fetch(`${url}/timers/batch`, { method: 'POST', body });
  const outcomes = (await answer.json()) as Outcome[];
  const ackMs = performance.now();
  return outcomes.map(({ status, id, copies }, i) => {
    const operation = operations[i];
    if (operation === undefined || id === undefined) {
      throw new Error(`A timer was not taken: ${status}.`);
    }
    const [have = '', wanted = ''] = (copies ?? '').split('/');
    operation.have = Number(have);
    operation.wanted = Number(wanted);
    operation.attempts.push({ member: url, sentMs, arrivedMs: sentMs, settledMs: ackMs, status });
    operation.ackMs = ackMs;
    operation.timer.id = id;
    return id;
  });
}

export function bodyOf(operation: Operation, uri: string) {
  const { intervalMs = 0, count = 0, factor = 0 } = operation.wish ?? {};
  return {
    // A little more than the last pop needs: seconds with a fraction are not exact.
    timing: { interval: intervalMs / 1000, 'repeat-for': (intervalMs * count + 1) / 1000 },
    callback: { http: { uri, opaque: opaqueOf(operation) } },
    reliability: { 'replication-factor': factor },
  };
}
