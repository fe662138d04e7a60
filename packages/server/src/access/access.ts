/**
 * Authentication and permission: every request passes here before its handler runs, except on open routes.
 *
 * A1  Without tokens every request may do everything (`start-rule.ts` says where a member may be so); from the first
 *     token on, and for as long as the process runs, no request gets in without one, even if all are revoked.
 * A2  Digests are compared, in constant time; a token whose id is not known costs the same as a wrong one.
 * A3  No token, and nothing of one but its name, gets into an answer or a log.
 * A4  Wrong tokens of one address beyond `wrongRate` are 429. A right one is looked up before that and never slowed
 *     down by it, and a request without a token still gets a 401: behind one address there may be many clients.
 */
import { timingSafeEqual } from 'node:crypto';
import { CarillonError, type Clock } from '@carillon/core';
import { type ApiRequest, headerOf } from '../http/message.ts';
import { anyNamespace, defaultNamespace, isNamespace, namespaceRule } from '../config/namespace.ts';
import { type Rate, RateLimits } from './rate-limit.ts';
import type { NamespaceRates } from './namespace-rates.ts';
import { networkOf } from './remote.ts';
import { allows, type Scope } from './scope.ts';
import { type Token, tokenDigest, tokenIdOf, tokenLength } from './token.ts';

export interface Caller {
  /** Whether a token was asked for. */
  readonly auth: boolean;
  readonly scope: Scope;
  /** Name of the token; null without one. */
  readonly name: string | null;
  /** The namespace that it is bound to, or `*`. */
  readonly bound: string;
  /** The namespace of this request. */
  readonly namespace: string;
  /** Whose rate its requests count against. */
  readonly key: string;
}

/** The permission that a route needs. */
export interface Demand {
  readonly needs: Scope;
  /** Whether it concerns all namespaces. */
  readonly whole?: boolean;
}

/** Why a request is refused, and the headers that the answer must carry. */
export interface AccessRefusal {
  readonly error: CarillonError;
  readonly headers: readonly string[];
}

export interface AccessOptions {
  readonly clock: Clock;
  /** Rate limit of each token, or without authentication of each address; null: no limit. */
  readonly rate?: Rate | null;
  /** Rate limit of each namespace, beside the others; default: no limit. */
  readonly namespaceRates?: NamespaceRates;
}

interface Known {
  /** Digest of the token, decoded from 64 hex digits. */
  readonly digest: Buffer;
  readonly untilMs: number;
  readonly until: string | null;
  readonly caller: Caller;
}

/** Enough for a client with a wrong token, and for people at the dashboard; too little for guessing. */
const wrongRate: Rate = { perSecond: 1, burst: 20 };
const namespaceHeader = 'carillon-namespace';
const challenge = 'Bearer realm="carillon"';
const tokenless: Caller = {
  auth: false,
  scope: 'admin',
  name: null,
  bound: anyNamespace,
  namespace: defaultNamespace,
  key: '',
};
/** In place of the digest of a token that is not known. */
const noDigest = Buffer.alloc(64);
/** Where the digest of a token is put to be compared; written over by the next. */
const givenDigest = Buffer.alloc(64);

export class Access {
  private readonly clock: Clock;
  private readonly limits: RateLimits | null;
  private readonly namespaceRates: NamespaceRates | null;
  private readonly wrong = new RateLimits(wrongRate);
  private known: ReadonlyMap<string, Known> = new Map();
  private asks = false;
  /** The request whose token was found last: most are asked about twice, before their body and after it. */
  private proven: { readonly headers: object; readonly known: Known } | null = null;

  constructor({ clock, rate = null, namespaceRates }: AccessOptions) {
    this.clock = clock;
    this.namespaceRates = namespaceRates ?? null;
    this.limits = rate === null ? null : new RateLimits(rate);
  }

  /** Whether requests need a token. */
  get needsToken(): boolean {
    return this.asks;
  }

  /** From now on these are the tokens. */
  use(tokens: readonly Token[]): void {
    this.known = new Map(tokens.map((token) => [token.id, knownOf(token)]));
    this.proven = null;
    if (tokens.length > 0) this.asks = true;
  }

  /** The part of `admit` that can be decided before a body is read, without counting against the rate. */
  refuse(request: ApiRequest, demand: Demand): AccessRefusal | null {
    if (!this.asks) return null;
    const who = this.authenticate(request);
    return 'error' in who ? who : lacking(who, demand);
  }

  admit(request: ApiRequest, demand: Demand): Caller | AccessRefusal {
    const who = this.asks ? this.authenticate(request) : this.anybody(request);
    if ('error' in who) return who;
    const early = this.limits?.ask(who.key, this.clock.now()) ?? 0;
    if (early > 0) return tooFast(early, 'Too many requests (limits.ratePerSecond)');
    const caller = lacking(who, demand) ?? within(who, headerOf(request, namespaceHeader));
    return 'error' in caller ? caller : this.inTime(caller);
  }

  /** Unless its namespace has asked for too much. */
  private inTime(caller: Caller): Caller | AccessRefusal {
    const early = this.namespaceRates?.ask(caller.namespace, this.clock.now()) ?? 0;
    if (early === 0) return caller;
    return tooFast(early, `Too many requests of the namespace "${caller.namespace}"`);
  }

  /**
   * Whose turn a request takes: its token's and its namespace's; without tokens its namespace's. Empty: a stranger's.
   */
  partyOf(request: ApiRequest): string {
    const namespace = headerOf(request, namespaceHeader) ?? '';
    const asked = isNamespace(namespace) ? namespace : defaultNamespace;
    if (!this.asks) return asked;
    const text = headerOf(request, 'authorization');
    const known = text === undefined ? null : this.find(text);
    if (known === null) return '';
    this.proven = { headers: request.headers, known };
    const { bound, key } = known.caller;
    return bound === anyNamespace ? `${asked} ${key}` : bound;
  }

  /** Whether a caller that was let in would still be: for answers that go on. */
  knows({ auth, key }: Caller): boolean {
    if (!auth) return !this.asks;
    const known = this.known.get(key);
    return known !== undefined && this.clock.wall() < known.untilMs;
  }

  /** Counts work that one request brought with it, such as the timers of a batch, as so many requests more. */
  charge(caller: Caller, cost: number): void {
    this.limits?.charge(caller.key, this.clock.now(), cost);
    this.namespaceRates?.charge(caller.namespace, this.clock.now(), cost);
  }

  private anybody(request: ApiRequest): Caller {
    if (this.limits === null) return tokenless;
    return { ...tokenless, key: networkOf(request.remote ?? '') };
  }

  private authenticate(request: ApiRequest): Caller | AccessRefusal {
    const text = headerOf(request, 'authorization');
    if (text === undefined) return noToken;
    const known = this.proven?.headers === request.headers ? this.proven.known : this.find(text);
    if (known === null) return this.unlessFlood(request, wrongToken);
    this.proven = { headers: request.headers, known };
    if (this.clock.wall() < known.untilMs) return known.caller;
    return this.unlessFlood(request, pastToken(known));
  }

  private unlessFlood({ remote = '' }: ApiRequest, refusal: AccessRefusal): AccessRefusal {
    const early = this.wrong.ask(networkOf(remote), this.clock.now());
    return early === 0 ? refusal : tooFast(early, 'Too many wrong tokens from this address');
  }

  private find(text: string): Known | null {
    const given = bearerOf(text);
    const known = this.known.get(tokenIdOf(given) ?? '');
    givenDigest.write(tokenDigest(given), 'latin1');
    const same = timingSafeEqual(givenDigest, known?.digest ?? noDigest);
    return known !== undefined && same ? known : null;
  }
}

/** The token in an `Authorization`; empty where it holds none. */
function bearerOf(text: string): string {
  if (text.slice(0, 7).toLowerCase() !== 'bearer ') return '';
  const given = text.slice(7).trimStart();
  return given.length === tokenLength ? given : '';
}

function knownOf(token: Token): Known {
  const { id, name, scope, namespace, until } = token;
  return {
    digest: Buffer.from(token.digest, 'latin1'),
    untilMs: until === null ? Infinity : Date.parse(until),
    until,
    caller: {
      auth: true,
      scope,
      name,
      bound: namespace,
      namespace: namespace === anyNamespace ? defaultNamespace : namespace,
      key: id,
    },
  };
}

/** The permission that the caller lacks, as a refusal; null: none. */
function lacking({ scope, bound }: Caller, { needs, whole = false }: Demand): AccessRefusal | null {
  if (!allows(scope, needs)) return tooSmall(scope, needs);
  if (!whole || bound === anyNamespace) return null;
  const says = `This concerns all namespaces, and this token is for the namespace "${bound}" only.`;
  return { error: new CarillonError('forbidden', says), headers: [] };
}

/** The caller in the namespace it asks for. */
function within(caller: Caller, asked: string | undefined): Caller | AccessRefusal {
  if (asked === undefined || asked === caller.namespace) return caller;
  if (!isNamespace(asked)) {
    const says = `The header Carillon-Namespace must have ${namespaceRule}.`;
    return { error: new CarillonError('bad_request', says), headers: [] };
  }
  if (caller.bound === anyNamespace) return { ...caller, namespace: asked };
  const says = `This token is for the namespace "${caller.bound}" only.`;
  return { error: new CarillonError('forbidden', says), headers: [] };
}

const noToken: AccessRefusal = {
  error: new CarillonError(
    'unauthorized',
    'Send a token along with the request, as in "Authorization: Bearer carillon_…".',
  ),
  headers: ['www-authenticate', challenge],
};

const invalid = ['www-authenticate', `${challenge}, error="invalid_token"`];
const wrongToken: AccessRefusal = {
  error: new CarillonError('unauthorized', 'There is no such token here, or not any more.'),
  headers: invalid,
};

function pastToken({ until }: Known): AccessRefusal {
  const error = new CarillonError('unauthorized', `This token was valid until ${until}.`);
  return { error, headers: invalid };
}

function tooSmall(has: Scope, needs: Scope): AccessRefusal {
  const says = `This needs a token with the scope "${needs}"; the scope of this one is "${has}".`;
  return {
    error: new CarillonError('forbidden', says),
    headers: ['www-authenticate', `${challenge}, error="insufficient_scope", scope="${needs}"`],
  };
}

function tooFast(early: number, what: string): AccessRefusal {
  const seconds = Math.ceil(early / 1000);
  const says = `${what}: the next one may come in ${seconds} s.`;
  return {
    error: new CarillonError('too_many', says),
    headers: ['retry-after', String(seconds)],
  };
}
