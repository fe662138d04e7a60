/**
 * Requests that a browser makes for a page of another origin. A browser reaches addresses that are closed to the
 * outside, such as loopback, and says for which page it asks; a page cannot make it say otherwise.
 *
 * W1  A request of a page of another origin is refused, with tokens or without, unless `access.origins` lists the
 *     origin; such a page is answered as CORS has it. Following a link to this member is no such thing.
 * W2  Where no tokens are asked for, the Host must be an address, localhost, a name that this member listens at or is
 *     advertised by, or one that is configured: a page that makes its own name point here (DNS rebinding) counts as one
 *     of this member for the browser, under that name. An address is never looked up, so it cannot be made to point
 *     here, and every browser sends a Host.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { CarillonError } from '@carillon/core';
import { type ApiRequest, headerOf } from '../http/message.ts';

export interface BrowserRules {
  /** Origins of pages that may ask: `https://app.example`. */
  readonly origins: readonly string[];
  /** Names of this member. */
  readonly hosts: readonly string[];
}

export class Browsers {
  private readonly origins: ReadonlySet<string>;
  private readonly hosts: ReadonlySet<string>;
  /** The last Host that was found to mean this member: a client seldom writes another. */
  private ownHost = '';

  constructor({ origins, hosts }: BrowserRules) {
    this.origins = new Set(origins);
    this.hosts = new Set(hosts.map((host) => host.toLowerCase()));
  }

  /** Why the request is not worked on; null: it may be. */
  refuse(request: ApiRequest, needsToken: boolean): CarillonError | null {
    const host = headerOf(request, 'host');
    if (!needsToken && host !== undefined && !this.isOwnHost(host)) return foreignHost;
    if (this.corsHeaders(request) !== null || isOfThisOrigin(request, host ?? '')) return null;
    return foreignPage;
  }

  /** CORS headers for the answer to a listed page; null for every other request. */
  corsHeaders(request: ApiRequest): readonly string[] | null {
    const origin = headerOf(request, 'origin');
    if (origin === undefined || !this.origins.has(origin)) return null;
    const headers = ['access-control-allow-origin', origin, 'vary', 'origin'];
    if (!isPreflight(request)) return [...headers, 'access-control-expose-headers', '*'];
    const asked = headerOf(request, 'access-control-request-headers') ?? '';
    headers.push('access-control-allow-methods', 'GET, HEAD, POST, PUT, DELETE');
    if (asked !== '') headers.push('access-control-allow-headers', asked);
    headers.push('access-control-max-age', '600');
    if (headerOf(request, 'access-control-request-private-network') !== undefined) {
      headers.push('access-control-allow-private-network', 'true');
    }
    return headers;
  }

  private isOwnHost(host: string): boolean {
    if (host === this.ownHost) return true;
    const isOwn = this.isOwn(hostnameOf(host));
    if (isOwn) this.ownHost = host;
    return isOwn;
  }

  private isOwn(name: string): boolean {
    if (name === 'localhost' || name.endsWith('.localhost') || this.hosts.has(name)) return true;
    const isBracketed = name.startsWith('[') && name.endsWith(']');
    return isBracketed ? isIPv6(name.slice(1, -1)) : isIPv4(name);
  }
}

const foreignHost = new CarillonError(
  'forbidden',
  'This member asks for no token, so it must be asked by its address or its advertised name; access.hosts lists the names that it may be asked by too.',
  { title: 'The member is asked by a name that is not its own' },
);

const foreignPage = new CarillonError(
  'forbidden',
  'A page of another origin asks; access.origins lists the allowed ones.',
  { title: 'Pages of this origin may not ask' },
);

function isPreflight(request: ApiRequest): boolean {
  const asked = headerOf(request, 'access-control-request-method');
  return request.method === 'OPTIONS' && asked !== undefined;
}

/** In lower case, without the port. */
function hostnameOf(host: string): string {
  const end = host.startsWith('[') ? host.indexOf(']') + 1 : host.lastIndexOf(':');
  return (end <= 0 ? host : host.slice(0, end)).toLowerCase();
}

/** Whether the request comes from no browser, from a page of this origin, or from a followed link. */
function isOfThisOrigin(request: ApiRequest, host: string): boolean {
  const site = headerOf(request, 'sec-fetch-site');
  if (site === 'same-origin' || site === 'none') return true;
  if (site !== undefined && isNavigation(request)) return true;
  const origin = headerOf(request, 'origin');
  // Browsers from before Sec-Fetch-Site, and behind a proxy that speaks another scheme.
  if (site === undefined)
    return origin === undefined || origin.replace(/^https?:\/\//, '') === host;
  return false;
}

function isNavigation(request: ApiRequest): boolean {
  const reads = request.method === 'GET' || request.method === 'HEAD';
  const opens = headerOf(request, 'sec-fetch-dest') === 'document';
  return reads && opens && headerOf(request, 'sec-fetch-mode') === 'navigate';
}
