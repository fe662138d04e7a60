/**
 * Why a key lives where it lives on members: each step with its candidates and hashes. For members with labels the rule
 * of `labelled-targets.ts` (L1 to L4), for others that of flat targets, written for reading and apart from both on
 * purpose: tests hold them to the same answer.
 */
import type { Candidate, Explanation, Step } from '../explain.ts';
import { hashNumber, hashText } from '../flat/hash.ts';
import { type Key, type NumberKey, readKey } from '../flat/key.ts';
import { wholeNumber } from '../input.ts';
import { logOf, logOfHash } from '../flat/logarithm.ts';
import { targetsMax } from '../flat/rendezvous.ts';
import { type Domain, groupMembers, type LabelledMember, type Ranked } from './members.ts';
import { liftedWeight, rankOfHash } from './labelled-targets.ts';
import { liftOf, strengthMax } from './spread.ts';

/** Each step of placing a key on members, with labels or without. */
export function explainMembers(
  members: readonly LabelledMember[],
  key: Key,
  replicas: number,
): Explanation {
  wholeNumber(replicas, 'The number of replicas', { min: 0, max: targetsMax });
  const top = groupMembers(members);
  const copies = Math.min(replicas, top.members.length);
  const reading: Reading = { key: readKey(key), steps: [] };
  const placed = copies === 0 ? [] : placeBelow(reading, top, { copies, primary: true });
  return { replicas: placed, wanted: replicas, steps: reading.steps };
}

interface Reading {
  readonly key: string | NumberKey;
  readonly steps: Step[];
}

interface Wanted {
  readonly copies: number;
  readonly primary: boolean;
}

/** A domain or member in a ranking; `near` is a logarithm below zero, and the nearest to zero wins. */
interface Entry {
  readonly id: string;
  readonly path: string;
  readonly weight: number;
  /** Its place in the order of the domains. */
  readonly rank: number;
  /** The hashes it stands with at the two ends, and how near these are. */
  readonly lowest: Standing;
  readonly highest: Standing;
  readonly room: number;
  readonly domain: Domain | null;
  copies: number;
}

interface Standing {
  readonly hash: number;
  readonly near: number;
}

function placeBelow(reading: Reading, domain: Domain, wanted: Wanted): string[] {
  const { copies, primary } = wanted;
  if (copies === 1 || domain.domains.length === 0) return placeMembers(reading, domain, wanted);
  const { domains } = domain;
  const some = copies < domains.length;
  const strength = some ? (strengthMax * (copies - 1)) / (domains.length - 1) : 0;
  const lift = some ? liftOf(copies, domains.length) : 0;
  const entries = domains.map((inner) => domainEntry(reading, inner, { strength, lift }));
  let first: Entry | null = null;
  if (!some) first = giveEach(entries, domain, wanted);
  else if (primary) first = giveSome(entries, copies);
  else for (const entry of byHighest(entries).slice(0, copies)) entry.copies = 1;
  const chosen = byHighest(entries).filter((entry) => entry.copies > 0 && entry !== first);
  const served = first === null ? chosen : [first, ...chosen];
  const ranked = [...new Set([...served, ...byHighest(entries)])];
  reading.steps.push(stepOf(domain, copies, ranked, first));
  const lists = served.map((entry) =>
    placeBelow(reading, entry.domain as Domain, { copies: entry.copies, primary: entry === first }),
  );
  const placed: string[] = [];
  for (let round = 0; placed.length < copies; round++) {
    for (const list of lists) placed.push(...list.slice(round, round + 1));
  }
  return placed;
}

function placeMembers(reading: Reading, domain: Domain, wanted: Wanted): string[] {
  const entries = domain.members.map((member) => memberEntry(reading, domain, member));
  const first = wanted.primary ? byLowest(entries)[0] : undefined;
  const others = byHighest(entries).filter((entry) => entry !== first);
  const ranked = first === undefined ? others : [first, ...others];
  const chosen = ranked.slice(0, wanted.copies);
  for (const entry of chosen) entry.copies = 1;
  reading.steps.push(stepOf(domain, wanted.copies, ranked, first ?? null));
  return chosen.map(({ id }) => id);
}

/**
 * Fewer copies than domains: the ends of the order keep their roles, domains of several members may take others' (L3).
 */
function giveSome(entries: readonly Entry[], copies: number): Entry {
  const order = entries.toSorted((a, b) => a.rank - b.rank);
  const backupsFrom = order.length - (copies - 1);
  const several = (entry: Entry) => entry.room > 1;
  const [start] = order;
  const candidates = order.slice(0, backupsFrom).filter((one) => one === start || several(one));
  const first = byLowest(candidates)[0] as Entry;
  first.copies = 1;
  const backups = order.filter((one, i) => one !== first && (i >= backupsFrom || several(one)));
  for (const entry of byHighest(backups).slice(0, copies - 1)) entry.copies = 1;
  return first;
}

/** One copy for each domain, and more round after round; the primary's domain keeps a member free (L4). */
function giveEach(entries: readonly Entry[], { members }: Domain, wanted: Wanted): Entry | null {
  const first = entries.toSorted((a, b) => a.rank - b.rank)[0] as Entry;
  const spare = wanted.primary && first.room > 1 && wanted.copies < members.length ? 1 : 0;
  for (let left = wanted.copies; left > 0; ) {
    for (const entry of byHighest(entries)) {
      if (left === 0 || entry.copies === entry.room - (entry === first ? spare : 0)) continue;
      entry.copies++;
      left--;
    }
  }
  return wanted.primary ? first : null;
}

function domainEntry(
  reading: Reading,
  domain: Domain,
  { strength, lift }: { readonly strength: number; readonly lift: number },
): Entry {
  const own = hashOf(reading, domain.seed);
  const heaviest = Math.max(...domain.members.map(({ weight }) => weight));
  const anchor = domain.members.find(({ weight }) => weight === heaviest);
  const gain = strength * logOf(domain.weight / heaviest);
  const stronger = 1 + gain + (gain * gain) / 2;
  const hashes = [
    { hash: own, weight: heaviest },
    ...domain.members
      .filter((member) => member !== anchor)
      .map(({ seed, weight }) => ({ hash: hashOf(reading, seed), weight })),
  ];
  const nearest = (end: (hash: number) => number): Standing =>
    hashes
      .map(({ hash, weight }) => ({ hash, near: logOfHash(end(hash)) / weight / stronger }))
      .reduce((best, one) => (one.near > best.near ? one : best));
  return {
    id: domain.id,
    path: domain.path,
    weight: domain.weight,
    rank: rankOfHash(own, liftedWeight(heaviest, lift)),
    lowest: nearest(mirror),
    highest: nearest((hash) => hash),
    room: domain.members.length,
    domain,
    copies: 0,
  };
}

function memberEntry(reading: Reading, domain: Domain, { name, weight, seed }: Ranked): Entry {
  const hash = hashOf(reading, seed);
  return {
    id: name,
    path: domain.path === '' ? name : `${domain.path}/${name}`,
    weight,
    rank: 0,
    lowest: { hash, near: logOfHash(mirror(hash)) / weight },
    highest: { hash, near: logOfHash(hash) / weight },
    room: 1,
    domain: null,
    copies: 0,
  };
}

function mirror(hash: number): number {
  return 0xffff_ffff - hash;
}

function byLowest(entries: readonly Entry[]): Entry[] {
  return entries.toSorted((a, b) => b.lowest.near - a.lowest.near);
}

function byHighest(entries: readonly Entry[]): Entry[] {
  return entries.toSorted((a, b) => b.highest.near - a.highest.near);
}

function hashOf({ key }: Reading, seed: number): number {
  return typeof key === 'string' ? hashText(key, seed) : hashNumber(key.hi, key.lo, seed);
}

function stepOf(
  domain: Domain,
  copies: number,
  ranked: readonly Entry[],
  first: Entry | null,
): Step {
  const candidates = ranked.map(
    (entry): Candidate => ({
      id: entry.id,
      path: entry.path,
      state: 'up',
      weight: entry.weight,
      score: entry === first ? entry.lowest.hash : entry.highest.hash,
      share: entry.copies,
    }),
  );
  const level = ranked[0]?.domain?.level ?? 'member';
  return { path: domain.path, level, replicas: copies, candidates, passedOver: [] };
}
