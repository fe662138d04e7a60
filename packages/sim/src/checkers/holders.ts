/** Looking into a member's store: whether it holds what an operation made. */
import { decodeDefinition, State } from '@carillon/core';
import type { Member } from '@carillon/server/internal';
import { type Operation, opaqueOf } from '../history.ts';

/** Whether the member holds what the operation made of the timer with this number, or what became of it since. */
export function holds(member: Member, number: string, operation: Operation): boolean {
  const hi = Number.parseInt(number.slice(0, 8), 16);
  const lo = Number.parseInt(number.slice(8), 16);
  const record = member.store.get(hi, lo);
  if (record === undefined) return false;
  if (record.state === State.tombstone) return true;
  if (operation.kind === 'cancel') return false;
  return decodeDefinition(record.body).opaque === opaqueOf(operation);
}
