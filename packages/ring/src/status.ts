/** A ring as etcd shows it, read once and without joining it: for `carillon ring status` and for people. */
import type { Etcd, KeyValue } from './etcd/etcd.ts';
import { decodeMember, type Member } from './member.ts';
import { decodeOwner, firstTokenOf } from './slots/slot.ts';

export interface RingStatus {
  readonly revision: number;
  /** null: there is no ring at this prefix (yet). */
  readonly config: {
    readonly version: number;
    readonly slots: number;
    readonly placement: string;
  } | null;
  readonly members: readonly (Member & { readonly slots: number })[];
  /** Slots without an owner at this moment. */
  readonly free: number;
  /** Locks taken or waited for with `durable: true`, by key. */
  readonly locks: readonly LockStatus[];
}

export interface LockStatus {
  readonly key: string;
  /** null: the key has waiters and no holder at this moment. */
  readonly holder: string | null;
  readonly token: string | null;
  /** Members that wait, in the order they began to. Not the order of grants: placement decides whose turn it is. */
  readonly waiters: readonly string[];
}

const limitMs = 5000;

export async function ringStatus(etcd: Etcd, prefix: string): Promise<RingStatus> {
  const root = `${prefix}/`;
  const { revision, entries } = await etcd.range(root, limitMs);
  const under = (part: string): KeyValue[] =>
    entries.filter((entry) => entry.key.startsWith(`${root}${part}`));
  const config = parse(under('config')[0]?.value) as RingStatus['config'];
  const owners = under('s/').map((entry) => decodeOwner(entry));
  const members = under('m/')
    .map((entry) => decodeMember(root, entry))
    .filter((member) => member !== null)
    .map((member) => ({
      ...member,
      slots: owners.filter(
        (owner) => owner?.member === member.id && owner.incarnation === member.incarnation,
      ).length,
    }));
  const locks = lockStatuses(under('k/'), under('w/'), root.length + 2);
  return { revision, config, members, free: (config?.slots ?? 0) - owners.length, locks };
}

/** `from`: where the lock's key begins in the keys of etcd. */
function lockStatuses(
  holders: readonly KeyValue[],
  waiters: readonly KeyValue[],
  from: number,
): LockStatus[] {
  const held = new Map(holders.map((entry) => [plain(entry.key.slice(from)), entry]));
  const waiting = new Map<string, string[]>();
  for (const { key, value } of waiters.toSorted((a, b) => a.createRevision - b.createRevision)) {
    const name = plain(key.slice(from).split('/')[0] ?? '');
    const waiter = text(parse(value), 'waiter');
    if (waiter !== null) waiting.set(name, [...(waiting.get(name) ?? []), waiter]);
  }
  const keys = [...new Set([...held.keys(), ...waiting.keys()])].toSorted();
  return keys.map((key) => {
    const entry = held.get(key);
    const record = parse(entry?.value);
    const holder = text(record, 'holder');
    // A record that came with its slot names no token: it is the first of its revision (`durable.ts`).
    const first = entry === undefined || holder === null ? null : firstTokenOf(entry.modRevision);
    return {
      key,
      holder,
      token: text(record, 'token') ?? (first === null ? null : String(first)),
      waiters: waiting.get(key) ?? [],
    };
  });
}

/** A key that was written by hand, and is no valid encoding, is shown as it is. */
function plain(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

function text(record: unknown, name: string): string | null {
  const value = (record as Record<string, unknown> | null)?.[name];
  return typeof value === 'string' ? value : null;
}

function parse(value: string | undefined): unknown {
  try {
    return value === undefined ? null : JSON.parse(value);
  } catch {
    return null;
  }
}
