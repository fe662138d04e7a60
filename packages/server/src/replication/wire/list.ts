/** Questions for lists and counts of records, and the counts. */
import { type ByteReader, type ByteWriter, MalformedError } from '@carillon/core';

export interface ListAsk {
  readonly namespace: string;
  readonly tag: string | null;
  /** '' for any. */
  readonly state: string;
  readonly cursor: string;
  readonly limit: number;
  /** Only timers that this member holds; '' for any. */
  readonly holder: string;
  readonly role: HolderRole;
  /** Only timers that call this receiver, as its origin or with whole first segments of a path; '' for any. */
  readonly receiver: string;
  /** Only timers with a tag that begins like this; '' for any. */
  readonly tagPrefix: string;
  /** Only timers whose newest attempt failed like this: a class or an HTTP status; '' for any. */
  readonly failure: string;
}

/** Timers that match, of one receiver and with one failure. */
export interface TallyGroup {
  /** Its origin; '' for the rest, where there are many. */
  readonly receiver: string;
  /** Class of the failure of the newest attempt; '' for none. */
  readonly failure: string;
  readonly count: number;
  /** When the oldest and the newest of them fell due, or are. */
  readonly firstMs: number;
  readonly lastMs: number;
}

/** As which of its replicas a member holds a timer; '' for any. */
export type HolderRole = '' | 'primary' | 'backup';

const roles: readonly HolderRole[] = ['', 'primary', 'backup'];

export function encodeAsk(writer: ByteWriter, ask: ListAsk, version: number): void {
  writer.text(ask.namespace);
  writer.u8(ask.tag === null ? 0 : 1);
  if (ask.tag !== null) writer.text(ask.tag);
  writer.text(ask.state);
  writer.text(ask.cursor);
  writer.varint(ask.limit);
  writer.text(ask.holder);
  writer.u8(roles.indexOf(ask.role));
  if (version < 4) return;
  writer.text(ask.receiver);
  writer.text(ask.failure);
  if (version >= 5) writer.text(ask.tagPrefix);
}

export function decodeAsk(from: ByteReader, version: number): ListAsk {
  return {
    namespace: from.text(),
    tag: from.u8() === 1 ? from.text() : null,
    state: from.text(),
    cursor: from.text(),
    limit: from.varint(),
    holder: from.text(),
    role: roleOf(from.u8()),
    receiver: version >= 4 ? from.text() : '',
    failure: version >= 4 ? from.text() : '',
    tagPrefix: version >= 5 ? from.text() : '',
  };
}

export function encodeGroup(writer: ByteWriter, group: TallyGroup, nowMs: number): void {
  const { receiver, failure, count, firstMs, lastMs } = group;
  writer.text(receiver);
  writer.text(failure);
  writer.varint(count);
  writer.f64(firstMs - nowMs);
  writer.f64(lastMs - nowMs);
}

export function decodeGroup(from: ByteReader, sentMs: number): TallyGroup {
  return {
    receiver: from.text(),
    failure: from.text(),
    count: from.varint(),
    firstMs: from.f64() + sentMs,
    lastMs: from.f64() + sentMs,
  };
}

function roleOf(code: number): HolderRole {
  const role = roles[code];
  if (role === undefined)
    throw new MalformedError(`A list is asked for by an unknown role ${code}.`);
  return role;
}
