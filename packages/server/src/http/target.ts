/** The path and the query of a request line's target, and its host where it names one (RFC 9112 §3.2). */

export interface Target {
  /** `host:port` of a target such as `http://host:port/path`; null: the target is a path. */
  readonly authority: string | null;
  readonly path: string;
  readonly query: string;
}

/** `http://host:port`, as it is sent to proxies, up to where the path begins. */
const absolute = /^https?:\/\/([\w\-.~%!$&'()*+,;=:[\]]+)/i;

/**
 * Understands `/path?query`, `http://host/path?query`, and `*` where it is asked for the options of the whole member.
 * Null: none of these. No decoding: no path needs any.
 */
export function splitTarget(method: string, target: string): Target | null {
  if (target.charCodeAt(0) === 0x2f) return splitLocal(target, null);
  if (target === '*') return method === 'OPTIONS' ? splitLocal(target, null) : null;
  // The target of CONNECT is a host and port; the connection refuses the method later.
  if (method === 'CONNECT') return splitLocal(target, null);
  const found = absolute.exec(target);
  if (found === null) return null;
  const [beginning, authority = ''] = found;
  const rest = target.slice(beginning.length);
  if (rest.startsWith('/')) return splitLocal(rest, authority);
  return rest === '' || rest.startsWith('?') ? splitLocal(`/${rest}`, authority) : null;
}

function splitLocal(local: string, authority: string | null): Target {
  const mark = local.indexOf('?');
  if (mark === -1) return { authority, path: local, query: '' };
  return { authority, path: local.slice(0, mark), query: local.slice(mark + 1) };
}
