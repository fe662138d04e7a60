/**
 * The order of a list by due time over all members, and the merging of their parts. Pure.
 *
 * A record's place is its millisecond, then the rank of the member that speaks for it, then its handle there. So one
 * place tells every member where to go on: of the same millisecond, members with a lower rank have shown all, members
 * with a higher rank none. A cursor does not grow with the number of members.
 */
import { hex16, type TimerRecord } from '@carillon/core';
import { hashText } from '@carillon/placement';
import { pageBytesMax, recordBytes } from '../sizes.ts';
import type { Found, RankedPlace } from '../wire/search.ts';

export const orderStart: RankedPlace = { ms: Number.NEGATIVE_INFINITY, rank: 0, handle: -1 };

/** The same at all members. */
export function rankOf(member: string): number {
  return hashText(member, 0);
}

function comparePlaces(a: RankedPlace, b: RankedPlace): number {
  if (a.ms !== b.ms) return a.ms < b.ms ? -1 : 1;
  return a.rank - b.rank || a.handle - b.handle;
}

export interface MemberPart {
  readonly name: string;
  readonly found: Found;
}

/** The next records of all, and where they end; null where nothing follows. */
export function mergeParts(
  parts: readonly MemberPart[],
  limit: number,
): { readonly records: readonly TimerRecord[]; readonly cursor: RankedPlace | null } {
  let edge: RankedPlace | null = null;
  const all: { place: RankedPlace; record: TimerRecord }[] = [];
  for (const { name, found } of parts) {
    const rank = rankOf(name);
    for (const { place, record } of found.entries) all.push({ place: { ...place, rank }, record });
    if (found.stopped === null) continue;
    const stopped = { ...found.stopped, rank };
    if (edge === null || comparePlaces(stopped, edge) < 0) edge = stopped;
  }
  // Beyond the first part that stopped, others may still have records that come before.
  const sorted = all
    .filter(({ place }) => edge === null || comparePlaces(place, edge) <= 0)
    .toSorted((a, b) => comparePlaces(a.place, b.place));
  const taken = takeFitting(sorted, limit);
  const last = taken.at(-1)?.place ?? null;
  const isCut = taken.length < sorted.length;
  return { records: onlyOnce(taken.map(({ record }) => record)), cursor: isCut ? last : edge };
}

function takeFitting<T extends { readonly record: TimerRecord }>(
  sorted: readonly T[],
  limit: number,
): readonly T[] {
  let bytes = 0;
  const over = sorted.findIndex(({ record }, i) => {
    bytes += recordBytes(record);
    return i > 0 && bytes > pageBytesMax;
  });
  return sorted.slice(0, Math.min(limit, over === -1 ? sorted.length : over));
}

/** While a member is about to be found silent, two may speak for a record. */
function onlyOnce(records: readonly TimerRecord[]): readonly TimerRecord[] {
  const seen = new Set<string>();
  return records.filter(({ hi, lo }) => {
    const key = hex16(hi, lo);
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}
