/** Looks into a member's store: whether it holds the timer of an operation. */
import { compareVersions, decodeDefinition, State } from '@carillon/core';
import type { Member } from '@carillon/server/internal';
import { bodyOf, keptUnder, type Operation } from '../history.ts';

/**
 * Whether the member holds the timer as the operation set it, or its tombstone; that of an earlier one does not count.
 */
export function holds(member: Member, operation: Operation): boolean {
  const { hi, lo } = keptUnder(operation.timer);
  const record = member.store.get(hi, lo);
  if (record === undefined) return false;
  if (record.state === State.tombstone) {
    const { version } = operation;
    return version === null || compareVersions(record, version) >= 0;
  }
  if (operation.kind === 'cancel') return false;
  return decodeDefinition(record.body).opaque === bodyOf(operation);
}
