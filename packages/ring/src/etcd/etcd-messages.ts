/**
 * etcd's messages as bytes: requests and answers, by the field numbers of etcd's public v3 API. Only the fields this
 * package uses; a newer server's extra fields are skipped.
 */
import type { Change, Compare, KeyValue, Operation, Txn } from './etcd.ts';
import { ProtoReader, ProtoWriter } from './protobuf.ts';

export interface Header {
  readonly revision: number;
  readonly raftTerm: number;
}

const noHeader: Header = { revision: 0, raftTerm: 0 };
const compareTarget = { create: 1, mod: 2 } as const;

/** The first key after every key that starts with `prefix`, as bytes; the end of etcd's half-open ranges. */
export function prefixEnd(prefix: string): Uint8Array {
  const bytes = new TextEncoder().encode(prefix);
  for (let i = bytes.length - 1; i >= 0; i--) {
    const byte = bytes[i] as number;
    if (byte < 0xff) {
      bytes[i] = byte + 1;
      return bytes.slice(0, i + 1);
    }
  }
  // Nothing can be added: etcd reads a single zero byte as "to the end of all keys".
  return Uint8Array.of(0);
}

export function encodePrefixRange(prefix: string): Uint8Array {
  return new ProtoWriter().string(1, prefix).raw(2, prefixEnd(prefix)).finish();
}

/** Reads nothing but the header: linearizable, without the value. */
export function encodeProofRead(key: string): Uint8Array {
  return new ProtoWriter().string(1, key).bool(9, true).finish();
}

export function encodeTxn(txn: Txn): Uint8Array {
  const writer = new ProtoWriter();
  for (const compare of txn.when) writer.message(1, (nested) => writeCompare(nested, compare));
  for (const operation of txn.success)
    writer.message(2, (nested) => writeOperation(nested, operation));
  for (const operation of txn.failure) {
    writer.message(3, (nested) => writeOperation(nested, operation));
  }
  return writer.finish();
}

function writeCompare(writer: ProtoWriter, compare: Compare): void {
  if ('createRevision' in compare) {
    writer.int(2, compareTarget.create).string(3, compare.key).int(5, compare.createRevision);
  } else {
    writer.int(2, compareTarget.mod).string(3, compare.key).int(6, compare.modRevision);
  }
}

function writeOperation(writer: ProtoWriter, operation: Operation): void {
  if ('put' in operation) {
    writer.message(2, (put) =>
      put.string(1, operation.put).string(2, operation.value).bigint(3, operation.lease),
    );
  } else if ('remove' in operation) {
    writer.message(3, (remove) => remove.string(1, operation.remove));
  } else {
    writer.message(1, (range) => range.string(1, operation.get));
  }
}

export function encodeLeaseGrant(id: bigint, ttlS: number): Uint8Array {
  return new ProtoWriter().int(1, ttlS).bigint(2, id).finish();
}

export function encodeLeaseId(id: bigint): Uint8Array {
  return new ProtoWriter().bigint(1, id).finish();
}

export function encodeWatch(prefix: string, fromRevision: number): Uint8Array {
  return new ProtoWriter()
    .message(1, (create) => {
      create.string(1, prefix).raw(2, prefixEnd(prefix)).int(3, fromRevision);
    })
    .finish();
}

export function encodeAuthenticate(user: string, password: string): Uint8Array {
  return new ProtoWriter().string(1, user).string(2, password).finish();
}

export function decodeToken(bytes: Uint8Array): string {
  const reader = new ProtoReader(bytes);
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) return reader.string();
  }
  return '';
}

export function decodeHeader(bytes: Uint8Array): Header {
  const reader = new ProtoReader(bytes);
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) return readHeader(reader.nested());
  }
  return noHeader;
}

export function decodeRange(bytes: Uint8Array): { header: Header; entries: KeyValue[] } {
  return readRange(new ProtoReader(bytes));
}

export function decodeTxn(bytes: Uint8Array): {
  header: Header;
  succeeded: boolean;
  found: (KeyValue | null)[];
} {
  const reader = new ProtoReader(bytes);
  let header = noHeader;
  let succeeded = false;
  const found: (KeyValue | null)[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) header = readHeader(reader.nested());
    else if (field === 2) succeeded = reader.bool();
    else if (field === 3) {
      const answer = reader.nested();
      // Only the answer to a `get` (field 1) carries something to return.
      if (answer.next() === 1) found.push(readRange(answer.nested()).entries[0] ?? null);
    }
  }
  return { header, succeeded, found };
}

/** The answer to a lease grant or keepalive: both have the TTL in field 3. */
export function decodeLease(bytes: Uint8Array): { header: Header; ttlS: number } {
  const reader = new ProtoReader(bytes);
  let header = noHeader;
  let ttlS = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) header = readHeader(reader.nested());
    else if (field === 3) ttlS = reader.int();
  }
  return { header, ttlS };
}

export interface WatchMessage {
  revision: number;
  created: boolean;
  cancelled: boolean;
  compactRevision: number;
  reason: string;
  changes: Change[];
}

export function decodeWatch(bytes: Uint8Array): WatchMessage {
  const reader = new ProtoReader(bytes);
  const message: WatchMessage = {
    revision: 0,
    created: false,
    cancelled: false,
    compactRevision: 0,
    reason: '',
    changes: [],
  };
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) message.revision = readHeader(reader.nested()).revision;
    else if (field === 3) message.created = reader.bool();
    else if (field === 4) message.cancelled = reader.bool();
    else if (field === 5) message.compactRevision = reader.int();
    else if (field === 6) message.reason = reader.string();
    else if (field === 11) message.changes.push(readChange(reader.nested()));
  }
  return message;
}

function readChange(reader: ProtoReader): Change {
  let deleted = false;
  let entry: KeyValue | null = null;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) deleted = reader.bool();
    else if (field === 2) entry = readKeyValue(reader.nested());
  }
  if (entry === null) throw new RangeError('etcd: a watch event without a key.');
  return deleted
    ? { kind: 'delete', key: entry.key, revision: entry.modRevision }
    : { kind: 'put', entry };
}

function readRange(reader: ProtoReader): { header: Header; entries: KeyValue[] } {
  let header = noHeader;
  const entries: KeyValue[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) header = readHeader(reader.nested());
    else if (field === 2) entries.push(readKeyValue(reader.nested()));
  }
  return { header, entries };
}

function readHeader(reader: ProtoReader): Header {
  let revision = 0;
  let raftTerm = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 3) revision = reader.int();
    else if (field === 4) raftTerm = reader.int();
  }
  return { revision, raftTerm };
}

function readKeyValue(reader: ProtoReader): KeyValue {
  let key = '';
  let value = '';
  let createRevision = 0;
  let modRevision = 0;
  let lease = 0n;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) key = reader.string();
    else if (field === 2) createRevision = reader.int();
    else if (field === 3) modRevision = reader.int();
    else if (field === 5) value = reader.string();
    else if (field === 6) lease = reader.bigint();
  }
  return { key, value, createRevision, modRevision, lease };
}
