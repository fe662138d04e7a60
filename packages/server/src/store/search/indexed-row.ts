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
