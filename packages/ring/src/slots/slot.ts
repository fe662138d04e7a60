/** One slot as this process sees it, and its record in etcd: `P/s/<slot>`, under the owner's lease. */
import type { KeyValue } from '../etcd/etcd.ts';
import type { LocalMember } from '../local-member.ts';
import type { SlotState } from './slot-state.ts';

export interface Slot {
  readonly index: number;
  readonly key: string;
  state: SlotState;
  /** The local member that claims or owns it; null in `foreign` and `lost`. */
  member: LocalMember | null;
  /** In `moving`: the local member to which the slot is handed over; else null. */
  heir: LocalMember | null;
  /** The revision of the own record: the upper part of every token. */
  epoch: number;
  /** Grants under this epoch: the lower part. */
  counter: number;
  /** Locks held in it now. */
  held: number;
  /** The record as last known, and since when: older news are ignored. */
  entry: KeyValue | null;
  seenRevision: number;
}

/** The member to which a slot belongs, of this process or of another, as far as its records need it. */
export interface NextOwner {
  readonly id: string;
  /** Of the member's record in etcd. */
  readonly key: string;
  readonly incarnation: number;
  readonly leaseId: bigint;
}

/** How many grants fit below the epoch of a token. */
export const countersPerEpoch = 2 ** 24;

/** The token of the first grant under an epoch. */
export function firstTokenOf(epoch: number): bigint {
  return BigInt(epoch) * BigInt(countersPerEpoch) + 1n;
}

export function newSlot(prefix: string, index: number): Slot {
  return {
    index,
    key: slotKey(prefix, index),
    state: 'foreign',
    member: null,
    heir: null,
    epoch: 0,
    counter: 0,
    held: 0,
    entry: null,
    seenRevision: 0,
  };
}

/** How long locks in the slot may be trusted: while it is handed over, as long as both members may be. */
export function trustedMs({ member, heir }: Slot): number {
  const ownMs = member?.remainingMs() ?? 0;
  return heir === null ? ownMs : Math.min(ownMs, heir.remainingMs());
}

function slotKey(prefix: string, index: number): string {
  return `${prefix}s/${String(index).padStart(5, '0')}`;
}

export function encodeOwner({ id, incarnation }: Pick<NextOwner, 'id' | 'incarnation'>): string {
  return JSON.stringify({ member: id, incarnation });
}

/** The owner that a slot's record names; null when the record cannot be read. */
export function decodeOwner(entry: KeyValue): { member: string; incarnation: number } | null {
  try {
    const { member, incarnation } = JSON.parse(entry.value) as Record<string, unknown>;
    if (typeof member !== 'string' || typeof incarnation !== 'number') return null;
    return { member, incarnation };
  } catch {
    return null;
  }
}
