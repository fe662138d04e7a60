/** Reads a list of members, as a file (JSON or YAML) gives it. Pure: text in, members or a sentence out. */
import { nearestWord, parseHostPort } from '@carillon/core';
import { checkWeight, PlacementError } from '@carillon/placement';
import { parseYaml } from '../../config/yaml.ts';
import type { Phase, ViewMember } from '../view/view.ts';

const memberCountMax = 1000;

interface TextRule {
  readonly holds: (text: string) => boolean;
  /** Ends a sentence: "… must be a text: host:port." */
  readonly right: string;
}

const nameForm = /^[A-Za-z0-9._:[\]-]{1,128}$/;
const nameRule: TextRule = {
  holds: (text) => nameForm.test(text),
  right: '1 to 128 letters, digits and . _ - : [ ]',
};
const addressRule: TextRule = { holds: (text) => parseHostPort(text) !== null, right: 'host:port' };
const phases: readonly string[] = ['joining', 'active', 'leaving'] satisfies Phase[];

const memberFields = [
  'name',
  'address',
  'peer',
  'phase',
  'weight',
  'labels',
] as const satisfies (keyof ViewMember)[];

/** A mistake in a members file, and its place. */
export class MembersFileError extends Error {
  override readonly name = 'MembersFileError';
}

export function parseMembers(text: string): readonly ViewMember[] {
  const list = membersOf(parseText(text));
  if (list.length === 0 || list.length > memberCountMax) {
    throw new MembersFileError(
      `"members" has ${list.length} entries; it must have 1 to ${memberCountMax}.`,
    );
  }
  const members = list.map((entry, i) => parseMember(entry, `members[${i}]`));
  for (const key of ['name', 'address', 'peer'] as const) refuseTwice(members, key);
  return members;
}

function parseText(text: string): unknown {
  try {
    // YAML contains JSON; aliases could make a small file huge.
    return parseYaml(text, { maxAliasCount: 0 });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
    throw new MembersFileError(`It is neither JSON nor YAML: ${reason}`, { cause });
  }
}

function membersOf(root: unknown): readonly unknown[] {
  const members = isObject(root) ? root['members'] : undefined;
  if (!Array.isArray(members)) {
    throw new MembersFileError(
      'It must be an object with a list "members", such as {"members":[{"name":"a", …}]}.',
    );
  }
  refuseUnknown(root as object, ['members'], 'The file');
  return members;
}

/** A field that is misspelt would be one that is not there: `wieght: 0` would be a member with timers. */
function refuseUnknown(given: object, known: readonly string[], at: string): void {
  for (const field of Object.keys(given)) {
    if (known.includes(field)) continue;
    const near = nearestWord(field, known, 2);
    const hint = near === null ? `it may have ${known.join(', ')}` : `did you mean "${near}"?`;
    throw new MembersFileError(`${at} has no field "${field}"; ${hint}${near === null ? '.' : ''}`);
  }
}

function parseMember(entry: unknown, at: string): ViewMember {
  if (!isObject(entry))
    throw new MembersFileError(`${at} must be an object with name, address and peer.`);
  refuseUnknown(entry, memberFields, at);
  const { phase = 'active', weight = 1, labels = {} } = entry;
  const name = textOf(entry, 'name', at, nameRule);
  if (typeof phase !== 'string' || !phases.includes(phase)) {
    throw new MembersFileError(`${at}.phase must be one of ${phases.join(', ')}.`);
  }
  checkWeightOf(weight, at);
  return {
    name,
    address: textOf(entry, 'address', at, addressRule),
    peer: textOf(entry, 'peer', at, addressRule),
    phase: phase as Phase,
    weight,
    labels: labelsOf(labels, at),
  };
}

function checkWeightOf(weight: unknown, at: string): asserts weight is number {
  try {
    checkWeight(weight, `${at}.weight`);
  } catch (error) {
    if (error instanceof PlacementError)
      throw new MembersFileError(error.message, { cause: error });
    throw error;
  }
}

function textOf(entry: Record<string, unknown>, key: string, at: string, rule: TextRule): string {
  const value = entry[key];
  if (typeof value === 'string' && rule.holds(value)) return value;
  throw new MembersFileError(`${at}.${key} must be a text: ${rule.right}.`);
}

function labelsOf(labels: unknown, at: string): Readonly<Record<string, string>> {
  const entries = isObject(labels) ? Object.entries(labels) : null;
  if (
    entries === null ||
    entries.length > 16 ||
    entries.some(([, value]) => typeof value !== 'string')
  ) {
    throw new MembersFileError(
      `${at}.labels must be an object of at most 16 texts, such as {"zone":"a"}.`,
    );
  }
  return Object.fromEntries(entries as [string, string][]);
}

function refuseTwice(members: readonly ViewMember[], key: 'name' | 'address' | 'peer'): void {
  const seen = new Set<string>();
  for (const member of members) {
    if (seen.has(member[key])) {
      throw new MembersFileError(
        `The ${key} "${member[key]}" appears twice; each member needs its own.`,
      );
    }
    seen.add(member[key]);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
