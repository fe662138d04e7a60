/** The path and the query of a request line's target (RFC 9112 §3.2). */

export interface Target {
  readonly path: string;
  readonly query: string;
}

/**
 * `http://host:port`, as it is sent to proxies, up to where the path begins. The name is ignored: the request came
 * here.
 */
const authority = /^https?:\/\/[\w\-.~%!$&'()*+,;=:[\]]+/i;

/**
 * Understands `/path?query`, `http://host/path?query`, and `*` where it is asked for the options of the whole member.
 * Null: none of these. No decoding: no path needs any.
 */
export function splitTarget(method: string, target: string): Target | null {
  const local = target.charCodeAt(0) === 0x2f ? target : localPart(method, target);
  if (local === null) return null;
  const mark = local.indexOf('?');
  if (mark === -1) return { path: local, query: '' };
  return { path: local.slice(0, mark), query: local.slice(mark + 1) };
}

function localPart(method: string, target: string): string | null {
  if (target === '*') return method === 'OPTIONS' ? target : null;
  // The target of CONNECT is a host and port; the connection refuses the method later.
  if (method === 'CONNECT') return target;
  const found = authority.exec(target);
  if (found === null) return null;
  const rest = target.slice(found[0].length);
  if (rest.startsWith('/')) return rest;
  return rest === '' || rest.startsWith('?') ? `/${rest}` : null;
}
