/**
 * Which slot a key falls into, and which member gets a slot. Two ways: `rendezvous` (the default: even to noise,
 * weighted, from `@carillon/placement`) and `successor` (the classic ring: the first member at or after a position),
 * with any 32-bit hash.
 *
 * Both move as few slots as possible: a newcomer takes slots from others and nothing else moves; a leaver's slots are
 * spread and nothing else moves.
 */
import { crc32 as zlibCrc32 } from 'node:zlib';
import { compileTargets, hashText } from '@carillon/placement';
import { shown } from './arguments.ts';
import { RingUsageError } from './errors.ts';

export interface PlacedMember {
  readonly id: string;
  readonly weight: number;
}

export interface RingPlacement {
  /** Stored in etcd; all processes of a ring must agree. */
  readonly name: string;
  slotOf(key: string, slots: number): number;
  /** The owner's id for each slot; null when there are no members with weight. */
  assign(members: readonly PlacedMember[], slots: number): readonly (string | null)[];
  /** Where a member sits among the slots. Not given: its slots do not depend on a position. */
  positionOf?(id: string, slots: number): number;
}

/** Any function from bytes to an unsigned 32-bit number. */
export type HashFunction = (bytes: Uint8Array) => number;

const utf8 = new TextEncoder();
const text = new TextDecoder();

export const crc32: HashFunction = (bytes) => zlibCrc32(bytes);
export const murmur3: HashFunction = (bytes) => hashText(text.decode(bytes), 0);

export const rendezvous: RingPlacement = {
  name: 'rendezvous',
  slotOf: (key, slots) => hashText(key, 0) % slots,
  assign(members, slots) {
    const owning = members.filter((member) => member.weight > 0);
    if (owning.length === 0) return Array.from({ length: slots }, () => null);
    const targets = compileTargets(owning.map(({ id, weight }) => ({ name: id, weight })));
    const best = new Int32Array(1);
    return Array.from({ length: slots }, (_, slot) => {
      targets.pick(0, slot, 1, best);
      return targets.names[best[0] as number] as string;
    });
  },
};

/**
 * The classic ring on `slots` positions: a key sits at `hash(key) % slots`, a member at `hash(id) % slots` and owns
 * the positions from its predecessor (exclusive) to itself. Members at one position share its positions by
 * rendezvous, so that even a constant hash hides no member. Weights play no part but 0.
 */
export function successor(hash: HashFunction = crc32, name = 'crc32'): RingPlacement {
  if (typeof hash !== 'function') {
    throw new RingUsageError(
      `ring: the hash of successor is ${shown(hash)}; a function from bytes to a number is right.`,
    );
  }
  const position = (value: string, slots: number): number =>
    (hash(utf8.encode(value)) >>> 0) % slots;
  return {
    name: `successor-${name}`,
    slotOf: position,
    positionOf: position,
    assign(members, slots) {
      const owning = members.filter((member) => member.weight > 0);
      if (owning.length === 0) return Array.from({ length: slots }, () => null);
      const at = Map.groupBy(owning, (member) => position(member.id, slots));
      const owners = new Map([...at].map(([where, here]) => [where, shared(here, slots)]));
      const places = [...at.keys()].toSorted((a, b) => a - b);
      return Array.from({ length: slots }, (_, slot) => {
        const place = places.find((where) => where >= slot) ?? places[0];
        return owners.get(place as number)?.[slot] ?? null;
      });
    },
  };
}

function shared(members: readonly PlacedMember[], slots: number): readonly (string | null)[] {
  const equal = members.map(({ id }) => ({ id, weight: 1 }));
  return rendezvous.assign(equal, slots);
}

/** Tells placements with the same name but another hash apart: where a few known keys and members fall. */
export function fingerprint(placement: RingPlacement, slots: number): string {
  const members = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, weight: 1 }));
  const keys = Array.from({ length: 16 }, (_, i) => placement.slotOf(`key-${i}`, slots));
  const owners = placement.assign(members, slots);
  return hashText(`${keys.join()} ${owners.join()}`, 0).toString(16).padStart(8, '0');
}
