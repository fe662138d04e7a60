/**
 * The client: set, replace, cancel and read timers at whichever member answers. Neighbours: `changes/` sends changes
 * that are under way at the same time together, `transport.ts` makes the requests, `members.ts` chooses the member to
 * ask, `timer-spec.ts` and `shapes.ts` hold the forms of requests and answers.
 */
import { refuseUnless, shown } from '@carillon/core';
import { checkedId, checkOptions, headerText } from './arguments/call-arguments.ts';
import { type Asked, confirmedOf, itemOutcome, outcomesOf } from './changes/change.ts';
import { Changes } from './changes/changes.ts';
import type { Exchange } from './connections/exchange.ts';
import { fetched } from './connections/fetched.ts';
import { DeadLetters } from './dead-letters.ts';
import { ApiError, StrangeAnswer } from './errors.ts';
import { Members } from './members.ts';
import { PayloadError } from './payload/payload.ts';
import {
  auditNames,
  checkClient,
  checkRequest,
  historyNames,
  listNames,
  previewNames,
  setNames,
} from './arguments/option-names.ts';
import { type CallOptions, type PagedOptions, pages } from './pages.ts';
import { SeenVersion } from './seen-version.ts';
import {
  type Attempts,
  type Cluster,
  type Confirmed,
  Fields,
  type Preview,
  readAttempts,
  readCluster,
  readPage,
  readPreview,
  readTimer,
  readTotal,
  type Timer,
  type TimerState,
} from './shapes.ts';
import {
  type AuditFilter,
  auditQuery,
  type HistoryChange,
  type HistoryEntry,
  type HistoryFilter,
  readHistoryEntry,
} from './history.ts';
import { type ClientSystem, system as realSystem } from './system.ts';
import { activeTrace, traceHeaders } from './tracing.ts';
import {
  checkedBody,
  checkNames,
  type Duration,
  durationMs,
  optionalInstant,
  timingOf,
  type TimerSpec,
  usualText,
  type When,
} from './timer-spec.ts';
import { type Answer, type ApiAnswer, type ApiRequest, Transport } from './transport.ts';

export interface CarillonOptions {
  /**
   * URLs of one or more members, such as `http://127.0.0.1:7253`; any will do, more survive more. A path, as of a proxy
   * in front of a member, goes before each path of the API.
   */
  readonly members: readonly string[];
  /** As `carillon token create` printed it; needed where the cluster asks for one. */
  readonly token?: string;
  /** Whose timers to work with. Default: the one the token is for, or `default`. */
  readonly namespace?: string;
  /** Carries the requests. Default: on Node connections of its own, elsewhere the platform's. */
  readonly fetch?: typeof fetch;
  /** For one attempt at one member; default 10 s. */
  readonly timeout?: Duration;
  /** How long a member that failed is avoided; default 5 s. */
  readonly avoid?: Duration;
  /** How often the list of members is read from the cluster; default 60 s, null: never. */
  readonly refresh?: Duration | null;
  /** Whether sets, replaces and cancels that are called while others are on their way go together; default true. */
  readonly coalesce?: boolean;
  /** Clock and chance; for tests. */
  readonly system?: ClientSystem;
}

export interface SetOptions extends CallOptions {
  /** Two sets with the same key are one timer, for a day. Default: a fresh key for each call. */
  readonly idempotencyKey?: string;
}

export interface ListOptions extends PagedOptions {
  readonly tag?: string;
  /** The beginning of a tag. */
  readonly tagPrefix?: string;
  /** failing: pending, although the newest pop was given up. */
  readonly state?: TimerState | 'failing';
  /** Origin of the callback, such as http://a.example:8080, or with whole first segments of its path. */
  readonly receiver?: string;
  /** Class of the newest attempt's failure, such as 5xx or refused, or an HTTP status. */
  readonly failure?: string;
  /** due: by the time of the next attempt, soonest first. */
  readonly order?: 'due';
  /** Only timers whose next attempt is at or after the one and before the other; they come by due time. */
  readonly from?: Date;
  readonly to?: Date;
  /** Only timers that this member holds, and as which of their replicas. */
  readonly member?: string;
  readonly role?: 'primary' | 'backup';
}

export interface PreviewOptions extends CallOptions {
  /** IANA name of the zone of the local times. Default: that of the pattern, or UTC. */
  readonly timezone?: string | undefined;
}

/** The result of one timer of a batch. */
export type BatchOutcome =
  | ({ readonly ok: true } & Confirmed)
  | { readonly ok: false; readonly error: ApiError };

export class Carillon {
  readonly deadLetters: DeadLetters;
  private readonly members: Members;
  private readonly transport: Transport;
  private readonly changes: Changes;
  private readonly seenVersion = new SeenVersion();
  private readonly system: ClientSystem;
  private readonly refreshMs: number | null;
  private refreshedMs = Number.NEGATIVE_INFINITY;

  /** `exchange` carries the requests; default: by `fetch`. */
  constructor(options: CarillonOptions, exchange?: Exchange) {
    checkClient(options);
    const { refresh = 60_000, system = realSystem, coalesce = true } = options;
    this.system = system;
    this.members = new Members(options.members);
    this.refreshMs = refresh === null ? null : durationMs('refresh', refresh);
    this.transport = new Transport({
      members: this.members,
      token: options.token ?? null,
      namespace: options.namespace ?? null,
      seen: this.seenVersion,
      exchange: exchange ?? byFetch(options),
      system,
      timeoutMs: durationMs('timeout', options.timeout ?? 10_000),
      avoidMs: durationMs('avoid', options.avoid ?? 5000),
    });
    const { transport, seenVersion: seen } = this;
    this.changes = new Changes({ transport, seen, system, coalesce });
    this.deadLetters = new DeadLetters((request, read) => this.send(request, read));
  }

  /** URLs of the members known at present, the ones the cluster named included. */
  get memberUrls(): readonly string[] {
    return this.members.urls;
  }

  /**
   * The highest version that this client has seen; null before the first. Given to another client (`saw`), it makes
   * the changes of that client come after all changes of this one.
   */
  get seen(): string | null {
    return this.seenVersion.text;
  }

  /**
   * Every later change of this client comes after this version: `seen` of another client, or `X-Timer-Version` of a
   * callback. Throws TypeError for a text that is no version.
   */
  saw(version: string): void {
    if (typeof version === 'string' && this.seenVersion.add(version)) return;
    throw new TypeError(`${shown(version)} is not a version.`);
  }

  /** Sets a timer. Repeated at another member if need be, and still one timer. */
  set<Data>(spec: TimerSpec<Data>, options: SetOptions = {}): Promise<Confirmed> {
    const trace = activeTrace();
    return this.change(() => {
      const name = this.keyOf(options, 'set');
      const { signal } = options;
      return withText(spec, (text) => ({ kind: 'set', name, text, signal, trace }));
    });
  }

  /**
   * Sets many timers in one request; one outcome each, in order. A timer that the cluster refuses has an outcome of its
   * own and does not spoil the rest; one that is wrong in form is refused before anything is sent: the call rejects
   * with an error that begins with its place, `timers[0]: …`. The key covers the whole list: repeat it with the same
   * timers in the same order.
   */
  async setMany(specs: readonly TimerSpec[], options: SetOptions = {}): Promise<BatchOutcome[]> {
    const { signal } = options;
    const headers = { 'idempotency-key': this.keyOf(options, 'set'), ...traceHeaders() };
    refuseUnless(Array.isArray(specs), 'The argument of setMany', 'a list of timers', specs);
    const body = await Promise.all(specs.map(placedBody));
    const request = { method: 'POST', path: '/timers/batch', headers, body, signal } as const;
    return this.send(request, (answer) => {
      const items = outcomesOf(answer, specs.length);
      for (const item of items) this.seenVersion.add(item.text('version'));
      return items.map(batchOutcome);
    });
  }

  /** Replaces the timer, or creates it under this id; its sequence starts anew. */
  replace<Data>(id: string, spec: TimerSpec<Data>, options: CallOptions = {}): Promise<Confirmed> {
    const trace = activeTrace();
    return this.change(() => {
      const name = checkedId(id, 'timer');
      checkOptions(options, 'replace');
      const { signal } = options;
      return withText(spec, (text) => ({ kind: 'replace', name, text, signal, trace }));
    });
  }

  /** Cancels the timer; one that does not exist is fine too. */
  cancel(id: string, options: CallOptions = {}): Promise<Confirmed> {
    return this.change(() => {
      const name = checkedId(id, 'timer');
      checkOptions(options, 'cancel');
      return { kind: 'cancel', name, text: null, signal: options.signal, trace: undefined };
    });
  }

  /**
   * Makes the callback of a timer now, by a new timer with the same callback that pops once, at once; the result has
   * the id of that one. The timer itself is not touched. Rejects with ApiError (404) when there is no such timer.
   */
  async run(id: string, options: SetOptions = {}): Promise<Confirmed> {
    const { signal } = options;
    const headers = { 'idempotency-key': this.keyOf(options, 'run'), ...traceHeaders() };
    const path = `${timerPath(id)}/run`;
    return this.send({ method: 'POST', path, headers, signal }, confirmedOf);
  }

  /** When a timer would pop if it were set now: its next five pops. Nothing is stored. */
  async preview(when: When, options: PreviewOptions = {}): Promise<Preview> {
    checkNames(when);
    checkOptions(options, 'preview', previewNames);
    const { timezone, signal } = options;
    const body = { timing: timingOf(when) };
    const query = { timezone };
    const request = { method: 'POST', path: '/timers/preview', query, body, signal } as const;
    return this.send(request, ({ body: pops }) => readPreview(pops));
  }

  /** Cancels every timer with that tag and answers how many there were. */
  async cancelByTag(tag: string, options: CallOptions = {}): Promise<number> {
    refuseUnless(typeof tag === 'string' && tag !== '', 'The tag', 'a text', tag);
    checkOptions(options, 'cancel');
    const { signal } = options;
    const query = { tag };
    const request = { method: 'DELETE', path: '/timers', query, signal } as const;
    return this.send(request, ({ body }) =>
      new Fields(body).having('cancelled', 'number').number('cancelled'),
    );
  }

  /** The timer, or null when there is none. */
  async get(id: string, options: CallOptions = {}): Promise<Timer | null> {
    checkOptions(options, 'get');
    const { signal } = options;
    try {
      const request = { method: 'GET', path: timerPath(id), signal } as const;
      return await this.send(request, ({ body }) => this.shown(body));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  }

  /** How its newest callbacks went, as far as members remember; also of a timer that has ended. */
  async attempts(id: string, options: CallOptions = {}): Promise<Attempts> {
    checkOptions(options, 'list of attempts');
    const { signal } = options;
    const path = `${timerPath(id)}/attempts`;
    return this.send({ method: 'GET', path, signal }, ({ body }) => readAttempts(body));
  }

  /** Every attempt and change of a timer that members keep, the newest first; also of a timer that has ended. */
  history(
    id: string,
    options: HistoryFilter & PagedOptions = {},
  ): AsyncGenerator<HistoryEntry, void, undefined> {
    checkOptions(options, 'history', historyNames);
    const { since, until } = options;
    return this.entries(`${timerPath(id)}/history`, auditQuery({ since, until }), options);
  }

  /** Changes of all timers, with the names of the tokens that asked for them, the newest first. */
  async *audit(
    options: AuditFilter & PagedOptions = {},
  ): AsyncGenerator<HistoryChange, void, undefined> {
    checkOptions(options, 'list of changes', auditNames);
    for await (const entry of this.entries('/audit', auditQuery(options), options)) {
      if (entry.kind === 'change') yield entry;
    }
  }

  private entries(
    path: string,
    filter: Readonly<Record<string, string | undefined>>,
    { pageSize, signal, onMissing }: PagedOptions,
  ): AsyncGenerator<HistoryEntry, void, undefined> {
    return pages((cursor) => {
      const limit = pageSize === undefined ? undefined : String(pageSize);
      const query = { ...filter, limit, cursor };
      return this.send({ method: 'GET', path, query, signal }, ({ body }) =>
        readPage(body, 'entries', readHistoryEntry),
      );
    }, onMissing);
  }

  /** All timers of the cluster that fit, page by page behind the scenes. */
  list(options: ListOptions = {}): AsyncGenerator<Timer, void, undefined> {
    checkOptions(options, 'list', listNames);
    const { pageSize, signal, onMissing } = options;
    return pages((cursor) => {
      const limit = pageSize === undefined ? undefined : String(pageSize);
      const query = { ...listQuery(options), limit, cursor };
      return this.send({ method: 'GET', path: '/timers', query, signal }, ({ body }) =>
        readPage(body, 'timers', (item) => this.shown(item)),
      );
    }, onMissing);
  }

  /** How many timers of the cluster fit; not exact: about so many, because counting them would take long. */
  async count(options: ListOptions = {}): Promise<{ count: number; exact: boolean }> {
    checkOptions(options, 'count', listNames);
    const { signal } = options;
    const query = { ...listQuery(options), limit: '1', total: 'true' };
    const request = { method: 'GET', path: '/timers', query, signal } as const;
    return this.send(request, ({ body }) => readTotal(body));
  }

  /** The view, the members and the progress of resync, as the member that answers sees them. */
  async cluster(options: CallOptions = {}): Promise<Cluster> {
    checkOptions(options, 'call');
    const { signal } = options;
    return this.send({ method: 'GET', path: '/cluster', signal }, ({ body }) => readCluster(body));
  }

  /**
   * Makes a member leave: it hands its timers on and stops. Asked of one member only, so use a client that knows no
   * other (`members` with one URL and `refresh: null`).
   */
  async drain(options: CallOptions = {}): Promise<void> {
    checkOptions(options, 'drain');
    const { signal } = options;
    const request = { method: 'POST', path: '/cluster/drain', signal, repeatable: false } as const;
    await this.send(request, ({ body }) => new Fields(body).having('draining', 'boolean'));
  }

  /** Any request of the HTTP API, as it is, at the first member that answers: for requests without a method here. */
  async request(request: ApiRequest): Promise<ApiAnswer> {
    checkRequest(request);
    return this.send(request, ({ status, headers, body }) => {
      const answer = { status, headers: new Headers([...headers]), body };
      if (request.fits?.(answer) === false) throw new StrangeAnswer(`an unfit status ${status}`);
      return answer;
    });
  }

  private keyOf(options: SetOptions, thing: string): string {
    checkOptions(options, thing, setNames);
    const { idempotencyKey: key } = options;
    return key === undefined ? this.system.uuid() : headerText('idempotencyKey', key);
  }

  private send<T>(request: ApiRequest, read: (answer: Answer) => T): Promise<T> {
    this.refreshSometimes(request.path);
    return this.transport.request(request, read);
  }

  /** Not async: each change would cost its caller three more promises. */
  private change(prepare: () => Asked | Promise<Asked>): Promise<Confirmed> {
    this.refreshSometimes('/timers');
    try {
      const asked = prepare();
      if (asked instanceof Promise) return asked.then((ready) => this.changes.make(ready));
      return this.changes.make(asked);
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private shown(json: unknown): Timer {
    const timer = readTimer(json);
    this.seenVersion.add(timer.version);
    return timer;
  }

  /** Beside the request at hand, and of no consequence when it fails: the list known so far stays. */
  private refreshSometimes(path: string): void {
    const nowMs = this.system.now();
    if (this.refreshMs === null || nowMs < this.refreshedMs + this.refreshMs) return;
    this.refreshedMs = nowMs;
    if (path === '/cluster') return;
    const request = { method: 'GET', path: '/cluster' } as const;
    this.transport
      .request(request, ({ body }) => readCluster(body))
      .then(
        ({ members }) => {
          const active = members.filter(({ phase }) => phase !== 'gone');
          this.members.discovered(active.map(({ address }) => address));
        },
        () => {},
      );
  }
}

/** Wrapped: a browser's fetch insists on being called on its window. */
function byFetch(options: CarillonOptions): Exchange {
  return fetched(options.fetch ?? ((input, init) => fetch(input, init)));
}

function timerPath(id: string): string {
  return `/timers/${encodeURIComponent(checkedId(id, 'timer'))}`;
}

/** At once, unless a schema checks the data asynchronously. */
function withText(spec: TimerSpec, asked: (text: string) => Asked): Asked | Promise<Asked> {
  const usual = usualText(spec);
  if (usual !== null) return asked(usual);
  const body = checkedBody(spec);
  if (body instanceof Promise) return body.then((ready) => asked(JSON.stringify(ready)));
  return asked(JSON.stringify(body));
}

/** As `checkedBody`; the sentence of its error begins with the place of the timer in the list. */
async function placedBody(spec: TimerSpec, index: number): Promise<Record<string, unknown>> {
  try {
    return await checkedBody(spec);
  } catch (error) {
    const place = `timers[${index}]: `;
    if (error instanceof PayloadError) throw new PayloadError(place + error.message, error.issues);
    if (!(error instanceof TypeError)) throw error;
    throw new TypeError(place + error.message, { cause: error });
  }
}

function batchOutcome(item: Fields): BatchOutcome {
  const outcome = itemOutcome(item);
  return outcome.ok ? { ok: true, ...outcome.confirmed } : outcome;
}

function listQuery(options: ListOptions): Record<string, string | undefined> {
  const { tag, tagPrefix, state, receiver, failure, order, member, role, from, to } = options;
  const range = { from: optionalInstant('from', from), to: optionalInstant('to', to) };
  return { tag, 'tag-prefix': tagPrefix, state, receiver, failure, order, member, role, ...range };
}
