/**
 * Members that hold more than their weight asks for because copies are in distinct domains: a zone of one member next
 * to two zones of three, with three copies of everything, holds everything. No placement can help that; people can.
 */
import { evenLoads, type Part } from '../even-loads.ts';
import { wholeNumber } from '../input.ts';
import { targetsMax } from '../flat/rendezvous.ts';
import { type Domain, groupMembers, labelLevels, type LabelledMember } from './members.ts';

/** The share of all keys that a member would hold, from 0 to 1. */
export interface MemberShare {
  readonly name: string;
  /** By its weight alone. */
  readonly fair: number;
  /** With copies in distinct domains, spread over these as evenly as their weights and that allow. */
  readonly even: number;
}

export interface HotMember extends MemberShare {
  /** The member and the reason, as a sentence. */
  readonly says: string;
}

/** Up to here a member is not called hot: hashing keeps shares this near. */
export const hotFrom = 1.35;

export function evenShares(
  members: readonly LabelledMember[],
  replicas: number,
): readonly MemberShare[] {
  wholeNumber(replicas, 'The number of replicas', { min: 0, max: targetsMax });
  const top = groupMembers(members);
  const copies = Math.min(replicas, top.members.length);
  const even = evenLoads(partOf(top), copies);
  return top.members.map(({ name, weight }) => ({
    name,
    fair: Math.min(1, (copies * weight) / top.weight),
    even: even.get(name) ?? 0,
  }));
}

/** The members whose domain makes them hold more than 1.35 times the share of their weight; the hottest first. */
export function hotMembers(
  members: readonly LabelledMember[],
  replicas: number,
): readonly HotMember[] {
  const shares = evenShares(members, replicas);
  const top = groupMembers(members);
  if (top.domains.length === 0) return [];
  return shares
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

function partOf({ domains, members, weight }: Domain): Part {
  const parts =
    domains.length === 0
      ? members.map((member) => ({ name: member.name, weight: member.weight, parts: [] }))
      : domains.map(partOf);
  return { name: '', weight, parts };
}
