/** What a ring looks like in etcd, read once and without joining it: for `carillon ring status` and for people. */
import type { Etcd, KeyValue } from './etcd.ts';
import { decodeMember, type Member } from './member.ts';
import { decodeOwner } from './slot.ts';

export interface RingStatus {
  readonly revision: number;
  /** null: there is no ring at this prefix (yet). */
  readonly config: {
    readonly version: number;
    readonly slots: number;
    readonly placement: string;
  } | null;
  readonly members: readonly (Member & { readonly slots: number })[];
  /** Slots that nobody owns at this moment. */
  readonly free: number;
  /** Locks taken with `durable: true`. */
  readonly locks: readonly {
    readonly key: string;
    readonly holder: string;
    readonly token: string;
  }[];
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
  const locks = under('k/').map((entry) => {
    const record = parse(entry.value) as { holder: string; token: string } | null;
    const key = decodeURIComponent(entry.key.slice(root.length + 2));
    return { key, holder: record?.holder ?? '', token: record?.token ?? '' };
  });
  return { revision, config, members, free: (config?.slots ?? 0) - owners.length, locks };
}

function parse(value: string | undefined): unknown {
  try {
    return value === undefined ? null : JSON.parse(value);
  } catch {
    return null;
  }
}
