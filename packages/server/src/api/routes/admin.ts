/** Routes for operators and their machines: liveness, readiness, status, members, resync, drain. */
import { CarillonError, type Clock, type Log } from '@carillon/core';
import type { Caller } from '../../access/access.ts';
import type { Scope } from '../../access/scope.ts';
import type { Load } from '../../metrics/load.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { type ApiResponse, jsonResponse, textResponse } from '../../http/message.ts';
import { problemResponse } from '../../http/problem.ts';
import type { Route } from '../router.ts';
import type { ClusterJson } from '../schema/cluster.ts';
import type { HistoryService, MemberControl } from '../../request/service.ts';
import type { ClusterView, DamageView } from '../../metrics/status.ts';

export interface AdminOptions {
  readonly control: MemberControl;
  readonly history: Pick<HistoryService, 'noteOrder'>;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  /** The answer to `/openapi.json`. */
  readonly document: () => string;
  /** Whether `/metrics` is open without authentication. */
  readonly openMetrics: boolean;
}

const ok = textResponse('OK');

export function adminRoutes(options: AdminOptions): Route[] {
  const { control, metrics, document, openMetrics } = options;
  const get = (path: string, needs: Scope | null, handle: () => ApiResponse): Route => ({
    method: 'GET',
    path,
    needs,
    handle,
  });
  const figures = (): ApiResponse => ({
    status: 200,
    headers: metricsHeaders,
    body: metrics.render(),
  });
  metrics.unready.read(() => (control.unready() === null ? 0 : 1));
  return [
    get('/ping', null, () => ok),
    // The event loop answers: nothing else would be cured by a restart.
    get('/healthz', null, () => ok),
    get('/livez', null, () => ok),
    get('/readyz', null, () => readiness(control)),
    get('/openapi.json', null, () => ({ status: 200, headers: jsonHeaders, body: document() })),
    get('/metrics', openMetrics ? null : 'read', figures),
    { method: 'GET', path: '/whoami', needs: 'read', handle: (_, __, caller) => whoami(caller) },
    get('/cluster', 'read', () => jsonResponse(renderCluster(control.cluster()))),
    { ...order('/cluster/drain'), handle: (_, __, caller) => drain(options, caller) },
    { ...order('/cluster/resync'), handle: (_, __, caller) => resync(options, caller) },
  ];
}

/** A route that only an operator may use. */
function order(path: string) {
  return { method: 'POST', path, needs: 'admin', whole: true } as const;
}

const metricsHeaders = ['content-type', 'text/plain; version=0.0.4; charset=utf-8'];
const jsonHeaders = ['content-type', 'application/json; charset=utf-8'];

/** The scope and namespace of a request's token; without authentication, all. */
function whoami({ auth, scope, bound, name }: Caller): ApiResponse {
  return jsonResponse({ auth, scope, namespace: bound, name }, 200, ['cache-control', 'no-store']);
}

function readiness(control: MemberControl): ApiResponse {
  const why = control.unready();
  return why === null ? ok : problemResponse(new CarillonError('overloaded', why));
}

/** Handing everything off takes as long as it takes: only a refusal is waited for, `/cluster` tells the rest. */
async function drain(
  { control, history, clock, log }: AdminOptions,
  { namespace, name }: Caller,
): Promise<ApiResponse> {
  log.info('A drain was asked for.', { event: 'drain-asked', actor: name ?? '' });
  const drained = control.drain();
  drained.catch((error: unknown) => {
    log.error('The drain did not finish.', { event: 'drain-failed', reason: String(error) });
  });
  await Promise.race([drained, new Promise<void>((resolve) => clock.soon(resolve))]);
  history.noteOrder('drain', namespace, name ?? '');
  return jsonResponse({ draining: true }, 202);
}

function resync({ control, history, log }: AdminOptions, { namespace, name }: Caller): ApiResponse {
  log.info('A resync was asked for.', { event: 'resync-asked', actor: name ?? '' });
  control.resync();
  history.noteOrder('resync', namespace, name ?? '');
  return jsonResponse({ resync: control.cluster().resync }, 202);
}

export function renderCluster(view: ClusterView): ClusterJson {
  return {
    'view-id': view.viewId,
    revision: view.revision,
    source: view.source,
    'placement-id': view.placementId,
    'default-factor': view.defaultFactor,
    hot: [...view.hot],
    members: view.members.map(({ clockOffsetMs, labels, load, figures, ...member }) => ({
      ...member,
      labels: { ...labels },
      'clock-offset-ms': clockOffsetMs,
      load: load === null ? null : renderLoad(load),
      'dead-letters': figures?.letters ?? null,
      retrying: figures?.retrying ?? null,
      answers: figures === null ? null : occurred(figures.answers),
    })),
    resync: view.resync,
    repair: {
      'unconfirmed-records': view.repair.unconfirmedRecords,
      'under-replicated': view.repair.underReplicated,
    },
    damage: view.damage === null ? null : renderDamage(view.damage),
  };
}

/** Without the results that never occurred. */
function occurred(answers: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(answers).filter(([, count]) => count > 0));
}

function renderDamage(damage: DamageView): NonNullable<ClusterJson['damage']> {
  return {
    state: damage.state,
    'found-at': new Date(damage.foundMs).toISOString(),
    stretches: damage.stretches,
    'entries-lost': damage.entriesLost,
    'more-lost': damage.moreLost,
    'timers-lost': damage.timersLost,
    'records-fetched': damage.recordsFetched,
  };
}

function renderLoad(load: Load): NonNullable<ClusterJson['members'][number]['load']> {
  return {
    'pops-per-second': load.popsPerSecond,
    'retried-per-second': load.retriedPerSecond,
    'given-up-per-second': load.givenUpPerSecond,
    'lateness-p50-ms': load.latenessP50Ms,
    'lateness-p99-ms': load.latenessP99Ms,
    'lag-ms': load.lagMs,
  };
}
