/** For tests: a service that remembers its calls, and an API around it. Nothing is stored but calls. */
import { formatTimerId, type Log, type TimerId, type Version } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import { Access } from '../access/access.ts';
import { configOf } from '../config/config.ts';
import { rateOf } from '../access/rate-limit.ts';
import { Metrics } from '../metrics/metrics.ts';
import { quotaFor } from '../config/quota.ts';
import { createRouter } from './routes/create-router.ts';
import type { Examines } from './routes/doctor.ts';
import type { ReadRings } from './routes/locks.ts';
import type { ApiRequest, ApiResponse } from '../http/message.ts';
import type { Router } from './router.ts';
import type {
  AttemptsView,
  EndedView,
  HistoryEntryView,
  HistoryQuery,
  HistoryService,
  LetterFilter,
  LetterQuery,
  ListQuery,
  MemberControl,
  SetOutcome,
  SetRequest,
  SetService,
  TimerService,
  TimerView,
} from '../request/service.ts';

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** The version of every change. */
const given: Version = { versionMs: 7, versionTie: 1 };

export class StandIn implements TimerService, SetService, MemberControl, HistoryService {
  readonly sets: SetRequest[] = [];
  readonly calls: { name: string; argument: unknown }[] = [];
  /** The answer of `set` to a request; the default confirms it. */
  answer: (request: SetRequest, number: number) => SetOutcome = (request, number) => {
    const timer = viewOf(request, number);
    const copies = { have: 1, wanted: 2 };
    return { ok: true, id: timer.id, copies, version: given, timer: () => timer };
  };
  known: TimerView | null = null;
  end: EndedView | null = null;
  remembered: AttemptsView = { attempts: [], missing: [] };
  entries: HistoryEntryView[] = [];
  notReady: string | null = null;
  drained: Promise<void> = Promise.resolve();

  saw(seen: Version) {
    this.note('saw', seen);
  }

  set(request: SetRequest): Promise<SetOutcome> {
    this.sets.push(request);
    return Promise.resolve(this.answer(request, this.sets.length));
  }

  setMany(requests: readonly SetRequest[]): Promise<readonly SetOutcome[]> {
    return Promise.all(requests.map((request) => this.set(request)));
  }

  cancel(_: string, id: TimerId) {
    this.note('cancel', id);
    const copies = { have: 2, wanted: 2 };
    return Promise.resolve({ id: formatTimerId(id), copies, version: given });
  }

  get(_: string, id: TimerId) {
    this.note('get', id);
    return Promise.resolve(this.known && { ...this.known, deadLetter: null });
  }

  ended(_: string, id: TimerId) {
    this.note('ended', id);
    return Promise.resolve(this.end);
  }

  deadLetter(_: string, id: TimerId) {
    this.note('deadLetter', id);
    return Promise.resolve(this.known);
  }

  list(query: ListQuery) {
    this.note('list', query);
    const items = this.known === null ? [] : [this.known];
    return Promise.resolve({ items, cursor: 'next', missing: ['b:1'] });
  }

  cancelByTag(_: string, tag: string) {
    this.note('cancelByTag', tag);
    return Promise.resolve({ count: 3, version: given });
  }

  attempts(_: string, id: TimerId) {
    this.note('attempts', id);
    return Promise.resolve(this.remembered);
  }

  history(query: HistoryQuery) {
    this.note('history', query);
    return Promise.resolve({ items: this.entries, cursor: null, missing: ['c:3'] });
  }

  audit(query: HistoryQuery) {
    this.note('audit', query);
    return Promise.resolve({ items: this.entries, cursor: 'more', missing: [] });
  }

  eraseAnswers(namespace: string, actor = '') {
    this.note('eraseAnswers', { namespace, actor });
    return Promise.resolve(['c:3']);
  }

  noteOrder(action: 'drain' | 'resync', namespace: string, actor: string) {
    this.note('noteOrder', { action, namespace, actor });
  }

  letterSummary(filter: LetterFilter) {
    this.note('letterSummary', filter);
    const group = { receiver: 'http://a', failure: '5xx', count: 2, oldestMs: 0, newestMs: 1000 };
    return Promise.resolve({ groups: [group], missing: ['b:1'] });
  }

  deadLetters(query: LetterQuery) {
    this.note('deadLetters', query);
    const items = this.known === null ? [] : [this.known];
    return Promise.resolve({ items, cursor: null, missing: [] });
  }

  redeliver(_: string, id: TimerId) {
    this.note('redeliver', id);
    return Promise.resolve(this.known === null ? null : given);
  }

  discard(_: string, id: TimerId) {
    this.note('discard', id);
    return Promise.resolve(this.known === null ? null : given);
  }

  discardMany(filter: LetterFilter) {
    this.note('discardMany', filter);
    return Promise.resolve({ count: 4, more: false, version: given });
  }

  cluster() {
    const self = { name: 'a:1', address: 'a:1', phase: 'active', weight: 1, labels: { zone: 'x' } };
    const heard = { self: true, reachable: true, clockOffsetMs: null, timers: 1, primaries: 1 };
    const figures = { letters: 2, retrying: 3, answers: { '2xx': 4 } };
    const load = {
      popsPerSecond: 2.5,
      retriedPerSecond: 0,
      givenUpPerSecond: 0,
      latenessP50Ms: 0.5,
      latenessP99Ms: null,
      lagMs: 1,
    };
    return {
      viewId: 'v',
      revision: 1,
      source: 'alone',
      placementId: 'carillon-placement-1',
      defaultFactor: 2,
      hot: [],
      members: [{ ...self, ...heard, disk: 'mended' as const, load, figures }],
      resync: { running: false, checked: 0, total: 0, moved: 0 },
      repair: { unconfirmedRecords: 0, underReplicated: 0 },
      damage: {
        state: 'mended' as const,
        foundMs: 0,
        stretches: 2,
        entriesLost: 3,
        moreLost: false,
        timersLost: 0,
        recordsFetched: 3,
      },
    };
  }

  drain() {
    this.note('drain', null);
    return this.drained;
  }

  resync() {
    this.note('resync', null);
  }

  unready() {
    return this.notReady;
  }

  private note(name: string, argument: unknown): void {
    this.calls.push({ name, argument });
  }
}

export function viewOf(request: SetRequest, number: number): TimerView {
  const factor = request.factor ?? request.id?.factor ?? 2;
  const id = request.id ?? { hi: 0x19, lo: number, bloomHi: 1, bloomLo: 2, factor };
  return {
    id: formatTimerId(id),
    namespace: request.namespace,
    definition: request.definition,
    state: 'pending',
    sequence: 0,
    attempt: 0,
    setMs: Date.UTC(2026, 0, 1),
    nextDueMs: Date.UTC(2026, 0, 1, 0, 0, 30),
    nextAttemptMs: null,
    version: '1.0',
    factor,
    replicas: ['a:1'],
    lastOutcome: null,
    lastFailure: null,
    lastDetail: null,
  };
}

export interface TestApi {
  readonly service: StandIn;
  readonly router: Router;
  readonly metrics: Metrics;
  readonly clock: VirtualClock;
  readonly access: Access;
  /** Errors that no client caused; must stay empty. */
  readonly bugs: unknown[];
  readonly ask: (method: string, target: string, options?: AskOptions) => Promise<ApiResponse>;
}

export interface AskOptions {
  readonly headers?: ApiRequest['headers'];
  /** A string or bytes as they are; anything else as JSON. */
  readonly body?: unknown;
}

/** A clock that stands still, except that functions given to `soon` run. */
class SoonClock extends VirtualClock {
  override soon(fn: () => void): void {
    setImmediate(fn);
  }
}

/** `overrides` are dotted option names, such as `limits.uriBytesMax`. */
export function testApi(
  overrides: Readonly<Record<string, unknown>> = {},
  readRings: ReadRings | null = null,
): TestApi {
  const service = new StandIn();
  const metrics = new Metrics({ version: '0', runtime: 'v24' });
  const clock = new SoonClock();
  const bugs: unknown[] = [];
  const config = configOf(new Map(Object.entries(overrides)));
  const bug = (error: unknown) => bugs.push(error);
  const access = new Access({ clock, rate: rateOf(config.limits) });
  const router = createRouter({
    service,
    sets: service,
    history: service,
    control: service,
    access,
    config,
    metrics,
    clock,
    log: silentLog,
    version: '0',
    bug,
    doctor: standInDoctor(service),
    readRings,
    strict: (namespace) => quotaFor(config.namespaces, namespace, config.limits).strict,
  });
  const ask = async (method: string, target: string, { headers = {}, body }: AskOptions = {}) => {
    const [path = '', query = ''] = target.split('?');
    return router.handle({ method, path, query, headers, body: bytesOf(body) });
  };
  return { service, router, metrics, clock, access, bugs, ask };
}

export function bytesOf(body: unknown): Uint8Array {
  if (body === undefined) return new Uint8Array(0);
  if (body instanceof Uint8Array) return body;
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
}

export function headerIn(response: ApiResponse, name: string): string | undefined {
  const at = response.headers.indexOf(name);
  return at === -1 ? undefined : response.headers[at + 1];
}

/** Finds nothing, at once. */
function standInDoctor(control: Pick<MemberControl, 'cluster'>): Examines {
  const well = { atMs: 0, verdict: 'well', findings: [], members: [], missing: [] } as const;
  return {
    examine: () => Promise.resolve(well),
    bundle: () =>
      Promise.resolve({ diagnosis: well, cluster: control.cluster(), metrics: '', config: {} }),
  };
}
