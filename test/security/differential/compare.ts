/**
 * Whether two readings of the same bytes go together. Null: they do. Else the difference in words.
 *
 * Carillon may refuse bytes that node:http takes (`stricter.ts` says why). It may not read something else, and it may
 * not take bytes that node:http refuses, apart from:
 *
 * D1  Any token is a method. node:http knows a list of them; the router answers the others with 405.
 * D2  `Upgrade` means nothing: the bytes behind it are the next request. node:http reads nothing behind such a
 *     request.
 * D3  The status of a receiver's answer counts once its line has arrived, even with faults in its reason and the
 *     lines behind. node:http refuses the answer. The connection is not used again.
 * D4  The answer to a HEAD ends with its head. node:http does not use the connection again where the head names no
 *     length.
 */
import { METHODS } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { TheirAnswer, TheirRequest, TheirRequests } from './llhttp.ts';
import type { OurAnswer, ReadRequest, ReadRequests } from './ours.ts';

const knownMethods = new Set(METHODS);

export function requestsDiffer(ours: ReadRequests, theirs: TheirRequests): string | null {
  const count = Math.max(ours.requests.length, theirs.requests.length);
  for (let i = 0; i < count; i++) {
    const our = ours.requests[i];
    const their = theirs.requests[i];
    if (our === undefined)
      return ours.end === 'open' ? `only node:http reads request ${i + 1}` : null;
    if (!knownMethods.has(our.method)) return null;
    if (their === undefined) return `only Carillon reads request ${i + 1}: ${our.method}`;
    const difference = headsDiffer(our, their) ?? bodiesDiffer(our, their, ours, theirs);
    if (difference !== null) return `request ${i + 1}: ${difference}`;
    if (isUpgrade(our)) return null;
  }
  return null;
}

function headsDiffer(our: ReadRequest, their: TheirRequest): string | null {
  if (our.method !== their.method) return `method ${our.method}, ${their.method}`;
  const [authority, path, query] = splitUrl(their.url);
  if (our.path !== path || our.query !== query)
    return `target ${our.path} ? ${our.query}, ${their.url}`;
  const headers = Object.fromEntries(Object.entries(our.headers));
  const theirs = Object.fromEntries(Object.entries(their.headers));
  // node:http leaves it to its user.
  if (authority !== null) theirs['host'] = authority;
  if (isDeepStrictEqual(headers, theirs)) return null;
  return `headers ${JSON.stringify(headers)}, ${JSON.stringify(theirs)}`;
}

function bodiesDiffer(
  our: ReadRequest,
  their: TheirRequest,
  ours: ReadRequests,
  theirs: TheirRequests,
): string | null {
  if (our.complete && !their.complete) return 'only Carillon reads all of the body';
  if (their.complete && !our.complete)
    return ours.end === 'refused' ? null : 'only node:http reads all of the body';
  const whole = our.complete || (ours.end === 'open' && theirs.failed === null);
  if (!whole || our.body === their.body) return null;
  return `body ${JSON.stringify(our.body)}, ${JSON.stringify(their.body)}`;
}

/** Of `http://host/path?query`: the host, which takes the place of the header (RFC 9112 §3.2.2), path and query. */
function splitUrl(url: string): readonly [string | null, string, string] {
  let authority: string | null = null;
  let local = url;
  const scheme = url.indexOf('://');
  if (!url.startsWith('/') && scheme !== -1) {
    const behind = url.slice(scheme + 3);
    const end = behind.search(/[/?]/);
    authority = end === -1 ? behind : behind.slice(0, end);
    local = end === -1 ? '/' : behind.slice(end);
    if (local.startsWith('?')) local = `/${local}`;
  }
  const mark = local.indexOf('?');
  if (mark === -1) return [authority, local, ''];
  return [authority, local.slice(0, mark), local.slice(mark + 1)];
}

function isUpgrade({ headers }: ReadRequest): boolean {
  return headers['upgrade'] !== undefined && /upgrade/i.test(headers['connection'] ?? '');
}

export function answersDiffer(method: string, our: OurAnswer, their: TheirAnswer): string | null {
  if (our.status !== 0 && their.status !== 0 && our.status !== their.status)
    return `status ${our.status}, ${their.status}`;
  if (our.progress === 'more' && their.complete) return 'only node:http sees the end';
  if (our.progress !== 'whole') return null;
  if (!their.complete && their.failed === null) return 'only Carillon sees the end';
  if (!our.keeps) return null;
  if (!their.complete) return `only Carillon takes it; node:http: ${their.failed}`;
  if (!their.keeps && method !== 'HEAD') return 'only Carillon keeps the connection';
  const retryAfter = their.headers['retry-after'];
  if (our.retryAfter === retryAfter || retryAfter?.includes(', ') === true) return null;
  return `retry-after ${our.retryAfter}, ${retryAfter}`;
}

/** Whether only Carillon has a status: then its line has to be good up to the status (D3). */
export function restsOnLine(our: OurAnswer, their: TheirAnswer): boolean {
  return our.status !== 0 && their.status === 0 && their.failed !== null;
}
