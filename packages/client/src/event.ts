/** Events: callbacks by which the cluster tells of dead letters, failing receivers and itself. */
import type { Pop } from './pop.ts';
import { Fields } from './shapes.ts';

export interface TimerEvent {
  /** `dead-letter`, `destination-failing` and so on; docs/events.md lists them. */
  readonly type: string;
  readonly timestamp: Date | null;
  readonly namespace: string;
  /** The timer, receiver or member that it is about; empty: the whole namespace or cluster. */
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The event that a callback tells of; null: it is a pop of a timer that a client set. */
export function eventOf(pop: Pop): TimerEvent | null {
  if (!pop.headers.has('x-timer-event')) return null;
  try {
    const from = new Fields(JSON.parse(pop.opaque));
    return {
      // From the body: a signature covers it, and no header.
      type: from.text('type'),
      timestamp: from.date('timestamp'),
      namespace: from.text('namespace'),
      subject: from.text('subject'),
      data: from.inner('data').all(),
    };
  } catch {
    return null;
  }
}
