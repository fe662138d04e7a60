/**
 * Members that hold more than their weight asks for because copies are in distinct domains: a zone of one member next to
 * two zones of three, with three copies of everything, holds everything. No placement can help that; people can.
 */
import type { Domain, LabelledMember } from './members.ts';
import { groupMembers, labelLevels } from './members.ts';

/** What a member would hold of all keys, from 0 to 1. */
export interface MemberShare {
  readonly name: string;
  /** By its weight alone. */
  readonly fair: number;
  /** With copies in distinct domains, spread over these as evenly as their weights and that allow. */
  readonly even: number;
}

export interface HotMember extends MemberShare {
  /** Who is hot and why, as a sentence. */
  readonly says: string;
}

/** Up to here a member is not called hot: hashing keeps shares this near. */
export const hotFrom = 1.35;

export function evenShares(
  members: readonly LabelledMember[],
  replicas: number,
): readonly MemberShare[] {
  const top = groupMembers(members);
  const copies = Math.min(replicas, top.members.length);
  const even = new Map<string, number>();
  spreadEvenly(top, copies, even);
  return top.members.map(({ name, weight }) => ({
    name,
    fair: Math.min(1, (copies * weight) / top.weight),
    even: even.get(name) ?? 0,
  }));
}

/** The members whose domain makes them hold more than 1.35 times what their weight asks for; the hottest first. */
export function hotMembers(
  members: readonly LabelledMember[],
  replicas: number,
): readonly HotMember[] {
  const top = groupMembers(members);
  if (top.domains.length === 0) return [];
  return evenShares(members, replicas)
    .filter(({ fair, even }) => even > hotFrom * fair)
    .toSorted((a, b) => b.even / b.fair - a.even / a.fair)
    .map((share) => ({ ...share, says: sentence(top, share, replicas) }));
}

function sentence(top: Domain, { name, fair, even }: MemberShare, replicas: number): string {
  const domain = top.domains.find(({ members }) => members.some((one) => one.name === name));
  const level = domain?.level ?? labelLevels[0];
  const others = (domain?.members.length ?? 1) - 1;
  const company =
    others === 0
      ? 'has no other member'
      : `has only ${others + 1} of ${top.members.length} members`;
  return (
    `${name} holds about ${percent(even)} of all timers with ${replicas} copies, where its weight asks for ${percent(fair)}: ` +
    `${level} ${domain?.id ?? ''} ${company}, and copies are in distinct ${level}s.`
  );
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

/** Adds to `even` what each member below holds of so many copies a key; a part of a copy is a copy of a part of the keys. */
function spreadEvenly(domain: Domain, copies: number, even: Map<string, number>): void {
  const whole = Math.max(1, Math.ceil(copies - 1e-9));
  const parts: readonly { readonly weight: number; readonly room: number }[] =
    domain.domains.length === 0
      ? domain.members.map(({ weight }) => ({ weight, room: 1 }))
      : domain.domains.map(({ weight, members }) => ({ weight, room: members.length }));
  const held = fill(parts, whole).map((amount) => (amount * copies) / whole);
  if (domain.domains.length === 0) {
    for (const [i, { name }] of domain.members.entries()) even.set(name, held[i] as number);
  } else {
    for (const [i, inner] of domain.domains.entries()) spreadEvenly(inner, held[i] as number, even);
  }
}

/** Copies by weight, but round after round: no part gets a second copy of a key before each part with room has one. */
function fill(
  parts: readonly { readonly weight: number; readonly room: number }[],
  copies: number,
): number[] {
  const rounds = roundsOf(parts, copies);
  const amount = (at: number) =>
    parts.map(({ weight, room }) =>
      Math.min(room, rounds + 1, Math.max(Math.min(room, rounds), at * weight)),
    );
  const total = (at: number) => amount(at).reduce((sum, one) => sum + one, 0);
  let low = 0;
  let high = 1 / parts.reduce((least, { weight }) => Math.min(least, weight), Infinity);
  while (total(high) < copies - 1e-9 && high < 1e12) high *= 2;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (total(middle) < copies) low = middle;
    else high = middle;
  }
  return amount(high);
}

/** How many rounds reach every part that has room for them. */
function roundsOf(parts: readonly { readonly room: number }[], copies: number): number {
  let rounds = 0;
  const upTo = (count: number) => parts.reduce((sum, { room }) => sum + Math.min(room, count), 0);
  while (rounds < copies && upTo(rounds + 1) <= copies) rounds++;
  return rounds;
}
