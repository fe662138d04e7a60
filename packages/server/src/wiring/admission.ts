/** Whether a member takes another timer: its phase, its disk, and the quota of the namespace. */
import { CarillonError, type Timing } from '@carillon/core';
import { refuseMore } from '../quotas/room.ts';
import type { Parts } from './parts.ts';

/** Sets wait outside while this much is appended and not yet synced. */
const backlogBytesMax = 64 * 1024 * 1024;

/** Why a timer cannot be set now; null when it can. */
export function refuseSet(
  { replica, journal, room }: Parts,
  isStopping: boolean,
  namespace: string,
  timing: Timing,
): CarillonError | null {
  if (isStopping) return new CarillonError('stopping', 'This member is stopping; ask another one.');
  if (replica.full) {
    return new CarillonError(
      'disk_full',
      'The disk of this member is full; pops and cancels go on, new timers cannot be stored.',
    );
  }
  if ((journal?.backlogBytes ?? 0) > backlogBytesMax) {
    return new CarillonError('overloaded', 'The disk cannot keep up with the writes.');
  }
  return refuseMore(room, namespace, timing);
}
