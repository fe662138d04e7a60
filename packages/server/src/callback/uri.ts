/**
 * Splits a callback's uri into the origin to connect to and the path to ask for there. Done once for each pop; the
 * parts travel in the request.
 *
 * Example: `HTTP://Receiver.example:80/a/../b?c=1` is the origin `http://receiver.example` and the path `/b?c=1`. The
 * full parser says so. From then on `http://receiver.example/b?c=2` is split by one match instead of a whole parse: its
 * origin is known to be canonical, and its path has nothing to normalise.
 */
import type { SplitUri } from '@carillon/core';

/** An origin and a path that need no normalising, but for dot segments. */
const plain =
  /^(https?:\/\/[a-z0-9.-]+(?::[0-9]+)?)(\/[\w\-.~!$&()*+,;=:@/%]*(?:\?[\w\-.~!$&()*+,;=:@/%?]+)?)?$/;

const knownCountMax = 16_384;
const newestAtFirst = { uri: '', split: null };

export class UriSplitter {
  /** Origins as the full parser wrote them. */
  private readonly known = new Set<string>();
  private newest: { readonly uri: string; readonly split: SplitUri | null } = newestAtFirst;

  /** The same as `splitUri`, sooner for a uri or an origin that was met before. */
  split(uri: string): SplitUri | null {
    // Most pops of a burst are for the same receiver.
    if (uri !== this.newest.uri) this.newest = { uri, split: this.splitNew(uri) };
    return this.newest.split;
  }

  private splitNew(uri: string): SplitUri | null {
    const match = plain.exec(uri);
    if (match !== null) {
      const [, origin = '', path = '/'] = match;
      const isNormal = !path.includes('/.') && !path.includes('/%2');
      if (isNormal && this.known.has(origin)) return { origin, path };
    }
    const split = splitUri(uri);
    if (this.known.size >= knownCountMax) this.known.clear();
    if (split !== null) this.known.add(split.origin);
    return split;
  }
}

/** The parts of a uri; null when it is not absolute http or https, or carries credentials. */
export function splitUri(uri: string): SplitUri | null {
  const url = URL.parse(uri);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  if (url.username !== '' || url.password !== '') return null;
  return { origin: url.origin, path: url.pathname + url.search };
}
