/**
 * Which member to ask: any member takes any request, so the one that worked last is asked again, and one that failed
 * is avoided for a while. Pure: time and chance are passed in.
 */

import { refuseUnless } from '@carillon/core';

const example = 'http://127.0.0.1:7253';

interface Member {
  readonly url: string;
  /** Named by the caller, never forgotten. */
  readonly configured: boolean;
  avoidedUntilMs: number;
}

export class Members {
  private members: Member[];
  private preferred: string | null = null;

  /** Throws TypeError for an address that is no http or https URL, or has more than an origin and a path. */
  constructor(urls: readonly string[]) {
    refuseUnless(Array.isArray(urls), 'members', `a list of URLs (['${example}'])`, urls);
    if (urls.length === 0) throw new TypeError('At least one member is needed, as a URL.');
    this.members = [...new Set(urls.map(baseUrl))].map((url) => ({
      url,
      configured: true,
      avoidedUntilMs: 0,
    }));
  }

  get urls(): readonly string[] {
    return this.members.map(({ url }) => url);
  }

  /** All members, in the order to try them: the preferred one, others at random, avoided ones last. */
  order(nowMs: number, random: () => number): string[] {
    const rank = (member: Member): number => {
      if (member.avoidedUntilMs > nowMs) return 2 + (member.avoidedUntilMs - nowMs);
      return member.url === this.preferred ? -1 : random();
    };
    return this.members
      .map((member) => ({ url: member.url, rank: rank(member) }))
      .toSorted((a, b) => a.rank - b.rank)
      .map(({ url }) => url);
  }

  worked(url: string): void {
    this.preferred = url;
    const member = this.members.find((known) => known.url === url);
    if (member !== undefined) member.avoidedUntilMs = 0;
  }

  failed(url: string, untilMs: number): void {
    if (this.preferred === url) this.preferred = null;
    const member = this.members.find((known) => known.url === url);
    if (member !== undefined) member.avoidedUntilMs = untilMs;
  }

  /** Takes over the members that the cluster reports, as `host:port` of each. Configured ones stay. */
  discovered(addresses: readonly string[]): void {
    const configured = this.members.filter((member) => member.configured);
    const [first] = configured;
    const scheme = first === undefined ? 'http:' : new URL(first.url).protocol;
    const local = configured.some(({ url }) => isLoopback(new URL(url).hostname));
    const found = addresses.slice(0, memberCountMax).flatMap((address) => {
      const url = discoveredUrl(scheme, address, local);
      return url === null || configured.some((member) => member.url === url) ? [] : [url];
    });
    const known = new Map(this.members.map((member) => [member.url, member]));
    this.members = [
      ...configured,
      ...[...new Set(found)].map(
        (url) => known.get(url) ?? { url, configured: false, avoidedUntilMs: 0 },
      ),
    ];
  }
}

const memberCountMax = 256;

function baseUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    throw new TypeError(`A member must be a URL such as ${example}, not "${text}".`, {
      cause,
    });
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`A member must be reached by http or https, not "${text}".`);
  }
  let path = url.pathname;
  while (path.endsWith('/')) path = path.slice(0, -1);
  const base = `${url.origin}${path}`;
  // The text is not told: it may hold a password.
  if (url.href !== `${url.origin}${url.pathname}`) {
    throw new TypeError(`The URL of a member has no user, query or fragment: say ${base} alone.`);
  }
  return base;
}

/**
 * An address that only means something on the member's own machine is of no use elsewhere: the wildcard never, loopback
 * only when the caller reaches a member by loopback itself.
 */
function discoveredUrl(scheme: string, address: string, local: boolean): string | null {
  let url: URL;
  try {
    url = new URL(`${scheme}//${address}`);
  } catch {
    return null;
  }
  const { hostname } = url;
  if (hostname === '0.0.0.0' || hostname === '[::]' || (isLoopback(hostname) && !local))
    return null;
  return url.username === '' && url.pathname === '/' ? url.origin : null;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
