/**
 * The placement explorer without its looks: where a key lives and why, and which keys would move if the members
 * changed.
 */
import { parseHex16, parseTimerId } from '@carillon/core';
import {
  compileLabelled,
  type Diff,
  diff,
  evenMovement,
  evenShares,
  explainMembers,
  type Key,
  PlacementError,
  type Step,
} from '@carillon/placement';
import { copiesOf, type Placed } from './domains.ts';

export interface Found {
  /** All members, in the order in which they would hold the key. */
  readonly ranked: readonly { readonly name: string; readonly role: string }[];
  readonly steps: readonly Step[];
}

/** Whose ids carry the very numbers that members place. */
const plainNamespace = 'default';

/** Keys that the what-if tries: enough for half a percent, few enough to answer while the user types. */
export const sampleKeys = 10_000;

/**
 * A timer id, or 16 hex digits, is a number; everything else is a text. null: only members know where such an id leads.
 */
export function keyOf(text: string, namespace = plainNamespace): Key | null {
  const lower = text.trim().toLowerCase();
  const number = parseHex16(lower) ?? parseTimerId(lower);
  if (number === null) return text;
  return namespace === plainNamespace ? { hi: number.hi, lo: number.lo } : null;
}

function roleOf(position: number, replicas: number): string {
  if (position >= replicas) return '';
  return position === 0 ? 'primary' : `backup ${position}`;
}

/** Where a key lives. Throws PlacementError where the members cannot be placed on. */
export function find(members: readonly Placed[], key: Key, replicas: number): Found {
  const placer = compileLabelled(members);
  const wanted = Math.min(replicas, placer.names.length);
  if (wanted === 0) return { ranked: [], steps: [] };
  const all = picksOf(members, key, placer.names.length);
  const first = picksOf(members, key, wanted);
  const rest = all.filter((name) => !first.includes(name));
  const { steps } = explainMembers(members, key, wanted);
  return {
    ranked: [...first, ...rest].map((name, i) => ({ name, role: roleOf(i, wanted) })),
    steps,
  };
}

function picksOf(members: readonly Placed[], key: Key, wanted: number): string[] {
  const placer = compileLabelled(members);
  const out = new Int32Array(Math.max(1, wanted));
  const size =
    typeof key === 'object'
      ? placer.pick(key.hi, key.lo, wanted, out)
      : placer.pickText(String(key), wanted, out);
  return Array.from(out.subarray(0, size), (i) => placer.names[i] as string);
}

/** Members as they would be: some gone, some new. */
export interface Change {
  readonly removed: ReadonlySet<string>;
  readonly added: readonly Placed[];
}

function changed(members: readonly Placed[], change: Change): Placed[] {
  return [...members.filter(({ name }) => !change.removed.has(name)), ...change.added];
}

export interface Movement extends Diff {
  /** The least that moves between exact shares before and after, in copies. */
  readonly evenMinimum: number;
  readonly names: readonly string[];
  readonly before: ReadonlyMap<string, number>;
  readonly after: ReadonlyMap<string, number>;
}

/** The keys that would move; null when no members are left. */
export function movement(
  members: readonly Placed[],
  change: Change,
  replicas: number,
): Movement | null {
  const then = changed(members, change);
  if (then.length === 0 || members.length === 0) return null;
  const old = compileLabelled(members);
  const next = compileLabelled(then);
  const result = diff(old, next, { replicas, keys: sampleKeys });
  const names = [...new Set([...members, ...then].map(({ name }) => name))];
  return {
    ...result,
    evenMinimum: Math.round(
      evenMovement(evenOf(members, replicas), evenOf(then, replicas)) * result.keys,
    ),
    names,
    before: copiesOf(old, replicas, sampleKeys),
    after: copiesOf(next, replicas, sampleKeys),
  };
}

function evenOf(members: readonly Placed[], replicas: number): Map<string, number> {
  return new Map(evenShares(members, replicas).map(({ name, even }) => [name, even]));
}

/** A name and labels as typed: `n4`, `n4 zone=b`. Throws a PlacementError that shows the right form. */
export function parseMember(text: string, known: readonly string[]): Placed {
  const [name = '', ...rest] = text.trim().split(/\s+/);
  const fail = (says: string): PlacementError => new PlacementError('bad_input', says);
  if (!/^[A-Za-z0-9._:[\]-]{1,128}$/.test(name)) {
    throw fail('Type a name, and labels behind it if you like: n4 zone=b');
  }
  if (known.includes(name)) throw fail(`There is a member ${name} already.`);
  const labels: Record<string, string> = {};
  let weight = 1;
  for (const part of rest) {
    const [key = '', value = ''] = part.split('=');
    if (value === '') throw fail(`"${part}" is no label; write it as zone=b.`);
    if (key === 'weight') weight = Number(value);
    else labels[key] = value;
  }
  if (!(weight > 0)) throw fail('The weight must be a number above 0.');
  return { name, weight, labels };
}
