/**
 * Counts records over the whole cluster, by receiver and failure. Each member counts the records that it speaks for: it
 * is the first of their replicas that answers. So each record is counted once, wherever its copies are; while a member
 * is about to be found silent, its records may be counted by none or by two.
 */
import { decodeDefinition, type TimerRecord } from '@carillon/core';
import { failureOf } from '../../timer/attempt.ts';
import { matches, originOf } from './list-filter.ts';
import type { ReadParts } from '../read.ts';
import { eachSlice } from './list.ts';
import type { ListAsk, TallyGroup } from '../wire/list.ts';

/** Groups that are told apart; records of further receivers are counted together. */
const groupCountMax = 1000;

export interface Tally {
  readonly groups: readonly TallyGroup[];
  readonly missing: readonly string[];
}

export async function tallyEverywhere(
  parts: ReadParts,
  ask: ListAsk,
  names: readonly string[],
): Promise<Tally> {
  const told = await Promise.all(
    names.map(async (name) => ({ name, groups: await tallyAt(parts, name, ask) })),
  );
  const groups = new Groups();
  for (const one of told) for (const group of one.groups ?? []) groups.add(group);
  return {
    groups: groups.all(),
    missing: told.filter((one) => one.groups === null).map(({ name }) => name),
  };
}

function tallyAt(
  parts: ReadParts,
  name: string,
  ask: ListAsk,
): Promise<readonly TallyGroup[] | null> {
  if (name === parts.self) return tallyHere(parts, ask);
  return new Promise((resolve) => {
    if (parts.peers === null) return resolve(null);
    parts.peers.send(name, { type: 'tally', ask }, (answer) =>
      resolve(answer?.type === 'tally' ? answer.groups : null),
    );
  });
}

/** Of the records that this member speaks for. */
export async function tallyHere(parts: ReadParts, ask: ListAsk): Promise<readonly TallyGroup[]> {
  const groups = new Groups();
  await eachSlice(parts, ask, (record) => {
    if (!speaksFor(parts, record) || !matches(record, ask)) return;
    const { uri } = decodeDefinition(record.body);
    const failure = failureOf(record.outcome) ?? '';
    const { dueMs } = record;
    groups.add({ receiver: originOf(uri), failure, count: 1, firstMs: dueMs, lastMs: dueMs });
  });
  return groups.all();
}

/** Whether this member is the first of the replicas that answers. */
export function speaksFor(
  { self, peers }: Pick<ReadParts, 'self' | 'peers'>,
  { replicas }: Pick<TimerRecord, 'replicas'>,
): boolean {
  return replicas.find((name) => name === self || !(peers?.silent(name) ?? true)) === self;
}

class Groups {
  private readonly groups = new Map<string, TallyGroup>();

  add(group: TallyGroup): void {
    const isRoom = this.groups.size < groupCountMax || this.groups.has(keyOf(group));
    const { receiver, ...rest } = group;
    const one = { receiver: isRoom ? receiver : '', ...rest };
    const known = this.groups.get(keyOf(one));
    this.groups.set(keyOf(one), known === undefined ? one : sum(known, one));
  }

  all(): readonly TallyGroup[] {
    return [...this.groups.values()];
  }
}

/** No failure has a blank in its name. */
function keyOf({ receiver, failure }: TallyGroup): string {
  return `${failure} ${receiver}`;
}

function sum(a: TallyGroup, b: TallyGroup): TallyGroup {
  return {
    ...a,
    count: a.count + b.count,
    firstMs: Math.min(a.firstMs, b.firstMs),
    lastMs: Math.max(a.lastMs, b.lastMs),
  };
}
