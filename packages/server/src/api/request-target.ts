/** The path and the query of a request line's target. */

export interface Target {
  readonly path: string;
  readonly query: string;
}

/** Understands `/path?query` and, as proxies send it, `http://host/path?query`. No decoding: no path needs any. */
export function splitTarget(url: string): Target {
  const local = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '');
  const mark = local.indexOf('?');
  if (mark === -1) return { path: local, query: '' };
  return { path: local.slice(0, mark), query: local.slice(mark + 1) };
}
