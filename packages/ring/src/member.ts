/** One member as other processes know it, and its form in etcd: `P/m/<id>`, a JSON record under the member's lease. */
import { checkLabels, shown } from './arguments.ts';
import { RingUsageError } from './errors.ts';
import type { KeyValue } from './etcd/etcd.ts';

export type MemberPhase = 'joining' | 'active' | 'leaving';
const phases: readonly string[] = ['joining', 'active', 'leaving'] satisfies MemberPhase[];

/** The fields that a member publishes about itself. */
export interface MemberRecord {
  readonly id: string;
  readonly phase: MemberPhase;
  /** Where clients reach it; empty for a member that takes no calls. */
  readonly address: string;
  /** Where other members reach it. */
  readonly peer: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Relative share of the keys; 0: none for now. */
  readonly weight: number;
}

export interface Member extends MemberRecord {
  /** The revision that created its record: grows each time the id joins anew. */
  readonly incarnation: number;
}

/** All members, as etcd held them at `revision`; sorted by id. */
export interface MemberView {
  readonly revision: number;
  readonly members: readonly Member[];
}

const idLengthMax = 256;
const recordBytesMax = 16 * 1024;

export function memberKey(prefix: string, id: string): string {
  return `${prefix}m/${encodeURIComponent(id)}`;
}

/** Gives absent fields their defaults; throws a sentence for an impossible value. */
export function memberRecord(id: string, given: Partial<Omit<MemberRecord, 'id'>>): MemberRecord {
  if (typeof id !== 'string' || id === '' || id.length > idLengthMax || !id.isWellFormed()) {
    const right = `a text of 1 to ${idLengthMax} characters, without lone surrogates`;
    throw new RingUsageError(`ring: a member id is ${right}, not ${shown(id)}.`);
  }
  const weight = given.weight ?? 1;
  if (!Number.isFinite(weight) || weight < 0) {
    throw new RingUsageError(
      `ring: the weight of member "${id}" is ${shown(weight)}; it must be 0 or more.`,
    );
  }
  checkLabels(given.labels);
  const record: MemberRecord = {
    id,
    phase: given.phase ?? 'active',
    address: given.address ?? '',
    peer: given.peer ?? '',
    labels: given.labels ?? {},
    weight,
  };
  const { length } = encodeMember(record);
  if (length > recordBytesMax) {
    throw new RingUsageError(
      `ring: the record of member "${id}" has ${length} of ${recordBytesMax} bytes.`,
    );
  }
  return record;
}

export function encodeMember(record: MemberRecord): string {
  const { phase, address, peer, labels, weight } = record;
  return JSON.stringify({ phase, address, peer, labels, weight, takesSlots: true });
}

/** Whether the member's process knows slots that are handed over to it: releases up to 0.2.0 claim theirs only. */
export function takesSlots({ value }: KeyValue): boolean {
  try {
    return (JSON.parse(value) as Record<string, unknown> | null)?.['takesSlots'] === true;
  } catch {
    return false;
  }
}

/** Null when the record was not written by a member: anybody can write to etcd, so nothing is assumed. */
export function decodeMember(prefix: string, entry: KeyValue): Member | null {
  try {
    const id = decodeURIComponent(entry.key.slice(prefix.length + 2));
    const fields = JSON.parse(entry.value) as Record<string, unknown>;
    const { phase, weight } = fields;
    if (id === '' || typeof phase !== 'string' || !phases.includes(phase)) return null;
    if (typeof weight !== 'number' || !(weight >= 0 && weight < Number.POSITIVE_INFINITY))
      return null;
    return {
      id,
      phase: phase as MemberPhase,
      address: typeof fields['address'] === 'string' ? fields['address'] : '',
      peer: typeof fields['peer'] === 'string' ? fields['peer'] : '',
      labels: decodeLabels(fields['labels']),
      weight,
      incarnation: entry.createRevision,
    };
  } catch {
    return null;
  }
}

function decodeLabels(given: unknown): Record<string, string> {
  if (typeof given !== 'object' || given === null) return {};
  const labels: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === 'string') labels[name] = value;
  }
  return labels;
}
