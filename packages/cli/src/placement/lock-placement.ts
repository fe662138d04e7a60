/**
 * Which process may grant a key of a ring that `carillon lock` uses: one of the processes that want the key. In other
 * rings all members share all keys; a process that is here for one key only would then wait for keys without a
 * holder. The wish of a member is the end of its id: `host-4711-1a2b@812` is here for slot 812.
 */
import { rendezvous, type RingPlacement } from '@carillon/ring';

/** Two keys that fall into one slot wait for each other: many slots make that rare, and unowned ones cost nothing. */
export const slotCount = 16_384;

export const byWish: RingPlacement = {
  name: 'wish',
  slotOf: (key, slots) => rendezvous.slotOf(key, slots),
  assign(members, slots) {
    const owners: (string | null)[] = Array.from({ length: slots }, () => null);
    for (const [wish, wanting] of Map.groupBy(members, ({ id }) => wishOf(id))) {
      if (wish !== null && wish < slots)
        owners[wish] = rendezvous.assign(wanting, slots)[wish] ?? null;
    }
    return owners;
  },
};

/** The id of a member that is here for `key`. */
export function memberFor(key: string, name: string): string {
  return `${name}@${byWish.slotOf(key, slotCount)}`;
}

function wishOf(id: string): number | null {
  const wish = /@(\d{1,5})$/.exec(id)?.[1];
  return wish === undefined ? null : Number(wish);
}
