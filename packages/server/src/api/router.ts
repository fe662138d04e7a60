/**
 * From a request to the handler of its route, and from the handler's result or error to an answer. Works on plain
 * data: the listener, tests and the simulator all come in here.
 *
 * A handler may throw or reject with CarillonError, which becomes problem+json. Anything else it throws is a bug: the
 * client gets a 500 and `bug` is told, which in production stops the member.
 */
import { CarillonError, type Clock } from '@carillon/core';
import type { Access, Caller } from '../access/access.ts';
import type { Browsers } from '../access/browsers.ts';
import type { Scope } from '../access/scope.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Cell, Histogram } from '../metrics/prometheus.ts';
import { type ApiRequest, type ApiResponse, withHeaders } from '../http/message.ts';
import { bugResponse, problemResponse } from '../http/problem.ts';
import { parametersOf } from './query.ts';

/** `part` is the text in the place of `:id`; empty for routes without one. */
export type Handler = (
  request: ApiRequest,
  part: string,
  caller: Caller,
) => ApiResponse | Promise<ApiResponse>;

/** The handler of a route without authentication: it gets no caller. */
export type OpenHandler = (request: ApiRequest, part: string) => ApiResponse | Promise<ApiResponse>;

export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `/timers`, or with one variable part: `/timers/:id`. */
  readonly path: string;
  /** Limit of the body where it differs from the limit for all routes. */
  readonly bodyBytesMax?: number;
  /**
   * Answers of this route can be pages of large timers: a client gets one at a time, and there is a bound on them all.
   */
  readonly long?: boolean;
  /** Shows or changes things beyond a single namespace: needs a token for all namespaces. */
  readonly whole?: boolean;
  /**
   * Also answers where its path has a slash behind it; no other route does, so that rules in front of a member need one
   * path.
   */
  readonly slash?: boolean;
  /** Reads its query, and refuses parameters that it does not know; of other routes the router refuses all. */
  readonly parameters?: boolean;
} & (
  | { readonly needs: Scope; readonly handle: Handler }
  /** No authentication. */
  | { readonly needs: null; readonly handle: OpenHandler }
);

export interface RouterOptions {
  readonly routes: readonly Route[];
  readonly access: Access;
  readonly browsers: Browsers;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly bodyBytesMax: number;
  readonly bug: (error: unknown) => void;
}

/** The metrics of a route, at hand. */
interface Tallied {
  readonly label: string;
  readonly duration: Histogram;
  readonly byStatus: Map<number, Cell>;
}

interface TalliedRoute extends Tallied {
  readonly route: Route;
}

/** All methods of one path. */
interface Place {
  readonly prefix: string;
  readonly suffix: string;
  readonly methods: Map<string, TalliedRoute>;
  readonly allow: string;
}

const unwantedBytesMax = 1024;
/** Of a path in an answer. */
const toldMax = 128;

export class Router {
  private readonly options: RouterOptions;
  private readonly fixed = new Map<string, Place>();
  private readonly variable: Place[] = [];
  /** Requests that reach no handler. */
  private readonly lost: Tallied;

  constructor(options: RouterOptions) {
    this.options = options;
    for (const path of new Set(options.routes.map((route) => route.path)))
      this.addPlace(path, this.entriesOf(path));
    this.lost = this.tallied('none');
  }

  /**
   * The largest body worth reading for this request. Routes without a body also read a little, for careless clients.
   */
  bodyBytesMax(method: string, path: string): number {
    const route = this.find(path)?.methods.get(method)?.route;
    if (route?.method !== 'POST' && route?.method !== 'PUT') return unwantedBytesMax;
    return route.bodyBytesMax ?? this.options.bodyBytesMax;
  }

  isLong(method: string, path: string): boolean {
    return this.find(path)?.methods.get(method)?.route.long ?? false;
  }

  /**
   * Whether the request may be worked on, as far as that can be told without its body: the refusal, or null. For a
   * listener that is about to read a body, and answers with the refusal if there is one; `handle` asks again.
   */
  refuseEarly(request: ApiRequest): ApiResponse | null {
    const refusal = this.refusePage(request) ?? this.refuseRoute(request);
    return refusal === null ? null : this.withCors(request, refusal);
  }

  partyOf(request: ApiRequest): string {
    return this.options.access.partyOf(request);
  }

  private refuseRoute(request: ApiRequest): ApiResponse | null {
    const place = this.find(request.path);
    if (place === undefined) return this.counted(this.lost, problemResponse(this.noSuch(request)));
    const entry = place.methods.get(request.method);
    if (entry === undefined) return this.counted(this.lost, this.offMethod(request, place));
    if (entry.route.needs === null) return null;
    const refusal = this.options.access.refuse(request, entry.route);
    if (refusal === null) return null;
    return this.counted(entry, problemResponse(refusal.error, refusal.headers));
  }

  /** Answers at once where the handler can. Never throws or rejects. */
  handle(request: ApiRequest): ApiResponse | Promise<ApiResponse> {
    const answer = this.refusePage(request) ?? this.route(request);
    // Only browsers say it.
    if (request.headers['origin'] === undefined) return answer;
    if (!(answer instanceof Promise)) return this.withCors(request, answer);
    return answer.then((response) => this.withCors(request, response));
  }

  private refusePage(request: ApiRequest): ApiResponse | null {
    const { browsers, access } = this.options;
    const error = browsers.refuse(request, access.needsToken);
    return error === null ? null : this.counted(this.lost, problemResponse(error));
  }

  private withCors(request: ApiRequest, response: ApiResponse): ApiResponse {
    const headers = this.options.browsers.corsHeaders(request);
    return headers === null ? response : withHeaders(response, headers);
  }

  private route(request: ApiRequest): ApiResponse | Promise<ApiResponse> {
    const startMs = this.options.clock.now();
    const place = this.find(request.path);
    if (place === undefined)
      return this.done(this.lost, startMs, problemResponse(this.noSuch(request)));
    const entry = place.methods.get(request.method);
    if (entry === undefined) return this.done(this.lost, startMs, this.offMethod(request, place));
    const { path } = request;
    const part =
      place.prefix === '' ? '' : path.slice(place.prefix.length, path.length - place.suffix.length);
    try {
      const answer = this.work(entry.route, request, part);
      if (!(answer instanceof Promise)) return this.done(entry, startMs, answer);
      return answer.then(
        (response) => this.done(entry, startMs, response),
        (error: unknown) => this.done(entry, startMs, this.failed(error)),
      );
    } catch (error) {
      return this.done(entry, startMs, this.failed(error));
    }
  }

  private work(
    route: Route,
    request: ApiRequest,
    part: string,
  ): ApiResponse | Promise<ApiResponse> {
    if (route.needs === null) return route.handle(request, part);
    const caller = this.options.access.admit(request, route);
    if ('error' in caller) return problemResponse(caller.error, caller.headers);
    if (request.query !== '' && route.parameters !== true) parametersOf(request.query, []);
    return route.handle(request, part, caller);
  }

  private done(entry: Tallied, startMs: number, response: ApiResponse): ApiResponse {
    entry.duration.observe(this.options.clock.now() - startMs);
    return this.counted(entry, response);
  }

  private counted(entry: Tallied, response: ApiResponse): ApiResponse {
    let cell = entry.byStatus.get(response.status);
    if (cell === undefined) {
      const status = String(response.status);
      cell = this.options.metrics.httpRequests.with({ route: entry.label, status });
      entry.byStatus.set(response.status, cell);
    }
    cell.value++;
    return response;
  }

  private failed(error: unknown): ApiResponse {
    if (error instanceof CarillonError) return problemResponse(error);
    this.options.bug(error);
    return bugResponse;
  }

  private noSuch(request: ApiRequest): CarillonError {
    const hint = this.slashHint(request);
    return new CarillonError(
      'not_found',
      `There is no such path; /openapi.json lists them all.${hint === '' ? '' : ` ${hint}`}`,
    );
  }

  private offMethod(request: ApiRequest, { allow }: Place): ApiResponse {
    if (request.method === 'OPTIONS') return { status: 204, headers: ['allow', allow], body: '' };
    const hint = this.slashHint(request);
    const says = `Allowed here: ${allow}.${hint === '' ? '' : ` ${hint}`}`;
    return problemResponse(new CarillonError('method_not_allowed', says), ['allow', allow]);
  }

  /** Where the path without the slash at its end takes the method. */
  private slashHint({ method, path }: ApiRequest): string {
    if (path.length < 2 || !path.endsWith('/')) return '';
    const plain = path.slice(0, -1);
    const isThere = this.find(plain)?.methods.has(method) ?? false;
    return isThere ? `Leave out the slash at its end: ${method} ${plain.slice(0, toldMax)}.` : '';
  }

  private find(path: string): Place | undefined {
    const exact = this.fixed.get(path);
    if (exact !== undefined) return exact;
    for (const place of this.variable) {
      const from = place.prefix.length;
      const to = path.length - place.suffix.length;
      if (to <= from || !path.startsWith(place.prefix) || !path.endsWith(place.suffix)) continue;
      const slash = path.indexOf('/', from);
      if (slash === -1 || slash >= to) return place;
    }
    return undefined;
  }

  private entriesOf(path: string): TalliedRoute[] {
    const routes = this.options.routes.filter((route) => route.path === path);
    return routes.map((route) => ({ route, ...this.tallied(`${route.method} ${path}`) }));
  }

  private addPlace(path: string, entries: readonly TalliedRoute[]): void {
    const methods = new Map<string, TalliedRoute>();
    for (const entry of entries) {
      methods.set(entry.route.method, entry);
      if (entry.route.method === 'GET') methods.set('HEAD', entry);
    }
    const slashed = entries.filter(({ route }) => route.slash === true);
    if (slashed.length > 0 && !path.endsWith('/')) this.addPlace(`${path}/`, slashed);
    const [prefix = '', suffix = ''] = path.split(':id');
    const variable = prefix !== path;
    const allow = [...methods.keys(), 'OPTIONS'].join(', ');
    const place = { prefix: variable ? prefix : '', suffix, methods, allow };
    if (variable) this.variable.push(place);
    else this.fixed.set(path, place);
  }

  private tallied(label: string): Tallied {
    return { label, duration: this.options.metrics.httpDuration.with(label), byStatus: new Map() };
  }
}
