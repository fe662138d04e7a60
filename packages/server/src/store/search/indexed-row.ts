/** A record as far as the search indexes look at it. Changed in place: each change of the store would make another. */
export interface IndexedRow {
  namespace: string;
  /** Of its next attempt. */
  retryMs: number;
  /** Its newest attempt failed. */
  failing: boolean;
  /** The body is bytes[from, to). */
  bytes: Uint8Array;
  from: number;
  to: number;
}

export function emptyRow(): IndexedRow {
  return { namespace: '', retryMs: 0, failing: false, bytes: new Uint8Array(0), from: 0, to: 0 };
}

/** Whether two rows have the same namespace and body, and so the same texts. */
export function hasSameTexts(before: IndexedRow, after: IndexedRow): boolean {
  const length = before.to - before.from;
  if (before.namespace !== after.namespace || length !== after.to - after.from) return false;
  for (let i = 0; i < length; i++) {
    if (before.bytes[before.from + i] !== after.bytes[after.from + i]) return false;
  }
  return true;
}
