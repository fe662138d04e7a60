/** The state of a timer in the words that clients see. */
import { State, type TimerRecord } from '@carillon/core';

export type TimerState = 'pending' | 'retrying' | 'ended' | 'dead';

export function timerState(record: TimerRecord): TimerState {
  if (record.state === State.tombstone) return 'ended';
  if (record.state === State.dead) return 'dead';
  return record.attempt > 0 ? 'retrying' : 'pending';
}
