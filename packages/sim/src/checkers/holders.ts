/** Looks into a member's store: whether it holds the timer of an operation, or knows of a pop. */
import { compareVersions, decodeDefinition, State } from '@carillon/core';
import type { Member } from '@carillon/server/internal';
import { bodyOf, keptUnder, type Operation } from '../history.ts';
import type { ReceivedCall } from '../world/calls.ts';
import { numbering } from '../world/numbering.ts';

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

/** Whether the member knows that the pop of this callback was made, or that the timer has changed since. */
export function knowsOf(
  member: Member,
  { popId, number }: ReceivedCall,
  namespace: string,
): boolean {
  const [, versionMs, versionTie, sequence] = popId.split('_').map(Number);
  const [hi, lo] = [number.slice(0, 8), number.slice(8)].map((digits) =>
    Number.parseInt(digits, 16),
  );
  const inside = numbering.inside(namespace, { hi: hi ?? 0, lo: lo ?? 0 });
  const record = member.store.get(inside.hi, inside.lo);
  if (record === undefined) return false;
  const version = { versionMs: versionMs ?? 0, versionTie: versionTie ?? 0 };
  const newer = compareVersions(record, version);
  const isMade = record.state !== State.live || record.sequence >= (sequence ?? 0);
  return newer > 0 || (newer === 0 && isMade);
}
