/** What operators and their machines ask: is it alive, is it ready, how is it, who is there, please look again, please leave. */
import { CarillonError, type Clock, type Log } from '@carillon/core';
import type { Metrics } from '../metrics.ts';
import { type ApiResponse, jsonResponse, textResponse } from './message.ts';
import { openApi } from './openapi.ts';
import { problemResponse } from './problem.ts';
import type { Route } from './router.ts';
import type { ClusterJson } from './schema.ts';
import type { ClusterView, TimerService } from './service.ts';

export interface AdminOptions {
  readonly service: TimerService;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
}

const ok = textResponse('OK');

export function adminRoutes(options: AdminOptions): Route[] {
  const { service, metrics, version } = options;
  const document = JSON.stringify(openApi(version));
  const get = (path: string, handle: () => ApiResponse): Route => ({ method: 'GET', path, handle });
  return [
    get('/ping', () => ok),
    // The event loop answers: nothing else would be cured by a restart.
    get('/healthz', () => ok),
    get('/livez', () => ok),
    get('/readyz', () => readiness(service)),
    get('/metrics', () => ({ status: 200, headers: metricsHeaders, body: metrics.render() })),
    get('/openapi.json', () => ({ status: 200, headers: jsonHeaders, body: document })),
    get('/cluster', () => jsonResponse(renderCluster(service.cluster()))),
    { method: 'POST', path: '/cluster/drain', handle: () => drain(options) },
    { method: 'POST', path: '/cluster/resync', handle: () => resync(options) },
  ];
}

const metricsHeaders = ['content-type', 'text/plain; version=0.0.4; charset=utf-8'];
const jsonHeaders = ['content-type', 'application/json; charset=utf-8'];

function readiness(service: TimerService): ApiResponse {
  const why = service.unready();
  return why === null ? ok : problemResponse(new CarillonError('overloaded', why));
}

/** Handing everything off takes as long as it takes: only a refusal is waited for, `/cluster` tells the rest. */
async function drain({ service, clock, log }: AdminOptions): Promise<ApiResponse> {
  log.info('A drain was asked for.');
  const drained = service.drain();
  drained.catch((error: unknown) => {
    log.error('The drain did not finish.', { reason: String(error) });
  });
  await Promise.race([drained, new Promise<void>((resolve) => clock.soon(resolve))]);
  return jsonResponse({ draining: true }, 202);
}

function resync({ service, log }: AdminOptions): ApiResponse {
  log.info('A resync was asked for.');
  service.resync();
  return jsonResponse({ resync: service.cluster().resync }, 202);
}

export function renderCluster(view: ClusterView): ClusterJson {
  return {
    'view-id': view.viewId,
    revision: view.revision,
    source: view.source,
    members: view.members.map(({ clockOffsetMs, labels, ...member }) => ({
      ...member,
      labels: { ...labels },
      'clock-offset-ms': clockOffsetMs,
    })),
    resync: view.resync,
    repair: {
      'missed-records': view.repair.missedRecords,
      'under-replicated': view.repair.underReplicated,
    },
  };
}
