/**
 * Events, as docs/events.md has them: a cluster tells of each thing under one name in a period, however many members
 * noticed it and on however many sides of a split; and no event is about the receiver of events. Excuses nothing. Half
 * of all runs have events, by their seed.
 */
import type { Checker, Judge } from '../judge.ts';
import type { ReceivedCall } from '../world/calls.ts';

/** The receiver of events. Other checkers do not see its calls: no client set these timers. */
export const eventReceiver = 'events';

const kinds = [
  'dead-letter',
  'letter-dropped',
  'letter-box-nearly-full',
  'destination-failing',
  'destination-well',
  'copies-missing',
  'damage-found',
  'disk-nearly-full',
];
const minuteMs = 60_000;

interface Told {
  readonly type: string;
  readonly timestamp: string;
  readonly namespace: string;
  readonly subject: string;
  readonly data: { readonly failure?: string };
}

/** The options of members that tell every namespace of its own, and `default` of the cluster; none for odd seeds. */
export function eventOptions(seed: number): readonly (readonly [string, unknown])[] {
  const events = { uri: `http://${eventReceiver}/`, kinds, form: 'plain' };
  return seed % 2 === 0 ? [['namespaces', { '*': { events } }]] : [];
}

export class ToldOnce implements Checker {
  private readonly judge: Judge;
  /** The name under which each thing was told of in its period. */
  private readonly names = new Map<string, string>();

  constructor(judge: Judge) {
    this.judge = judge;
  }

  onCall({ body, popId, by }: ReceivedCall): void {
    const told = JSON.parse(body) as Told;
    const { type, subject } = told;
    if (subject === `http://${eventReceiver}`)
      this.judge.violate('events', `${by} told of ${type} at the receiver of events itself.`);
    const key = keyOf(told);
    const name = this.names.get(key) ?? popId;
    this.names.set(key, name);
    if (name !== popId)
      this.judge.violate('events', `${by} told of ${key} as ${popId}; it was told of as ${name}.`);
  }
}

/** The thing that is told of, and the period. */
function keyOf({ type, timestamp, namespace, subject, data }: Told): string {
  const isLetter = type === 'dead-letter';
  const periodMs = isLetter ? minuteMs : 10 * minuteMs;
  const period = Math.floor(Date.parse(timestamp) / periodMs);
  return [type, namespace, subject, isLetter ? (data.failure ?? '') : '', period].join(' ');
}
