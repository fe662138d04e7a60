/**
 * Members that are here for one slot alone. A slot that such members wish for goes to one of them, before placement is
 * asked; all other slots are shared as if they were not there.
 *
 *   members a, b (weight 1) and c, which wishes for slot 812:   slot 812 → c   all others → a or b, as before c came
 */
import type { MemberRecord } from './member.ts';
import { rendezvous, type PlacedMember, type RingPlacement } from './placements.ts';

const label = 'only-for-slot';

type Wishing = PlacedMember & Pick<MemberRecord, 'labels'>;

/** The record of a member that wishes for the slot. Its weight of 0 keeps it out of every other slot. */
export function wishFor(
  slot: number,
  labels: Readonly<Record<string, string>> = {},
): Pick<MemberRecord, 'weight' | 'labels'> {
  return { weight: 0, labels: { ...labels, [label]: String(slot) } };
}

export function isWishing({ labels }: Pick<MemberRecord, 'labels'>): boolean {
  return labels[label] !== undefined;
}

/** The owner's id for each slot; null where there is none. */
export function assignWithWishes(
  placement: RingPlacement,
  members: readonly Wishing[],
  slots: number,
): readonly (string | null)[] {
  const bySlot = Map.groupBy(members, ({ labels }) => labels[label]);
  const owners = [...placement.assign(bySlot.get(undefined) ?? [], slots)];
  for (const [wish, wishing] of bySlot) {
    if (wish === undefined) continue;
    const slot = Number(wish);
    if (!Number.isInteger(slot) || slot < 0 || slot >= slots) continue;
    const equal = wishing.map(({ id }) => ({ id, weight: 1 }));
    owners[slot] = rendezvous.assign(equal, slots)[slot] ?? null;
  }
  return owners;
}
