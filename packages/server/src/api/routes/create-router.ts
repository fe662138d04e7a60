/** The whole API of a member as one router. Further routes (the dashboard) come from outside. */
import type { Clock, Log } from '@carillon/core';
import type { Access } from '../../access/access.ts';
import { Browsers } from '../../access/browsers.ts';
import type { Config } from '../../config/config.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { adminRoutes } from './admin.ts';
import { attemptRoutes } from './attempts.ts';
import { batchRoutes } from './batch.ts';
import { deadLetterRoutes } from './dead-letters.ts';
import { doctorRoutes, type Examines } from './doctor.ts';
import { previewRoutes } from './preview.ts';
import { runRoutes } from './run.ts';
import { historyRoutes } from './history.ts';
import { lockRoutes, type ReadRings } from './locks.ts';
import { LongWork } from '../long-work.ts';
import { openApi } from '../openapi/openapi.ts';
import { TimerParser } from '../parse-timer.ts';
import { type Route, Router } from '../router.ts';
import type {
  HistoryService,
  MemberControl,
  SetService,
  TimerService,
} from '../../request/service.ts';
import { heedSeen } from '../seen.ts';
import { timerRoutes } from './timers.ts';

export interface ApiOptions {
  readonly service: TimerService;
  readonly sets: SetService;
  readonly history: HistoryService;
  readonly control: MemberControl;
  readonly access: Access;
  readonly config: Pick<Config, 'access' | 'auth' | 'limits' | 'callbacks' | 'retry'>;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  /** The release, for `/openapi.json`. */
  readonly version: string;
  /** Told of errors that no client caused. */
  readonly bug: (error: unknown) => void;
  /** Default: no namespace is strict. */
  readonly strict?: (namespace: string) => boolean;
  readonly routes?: readonly Route[];
  /** Default: none. */
  readonly doctor?: Examines;
  /** Default: no ring can be seen. */
  readonly readRings?: ReadRings | null;
}

export function createRouter(options: ApiOptions): Router {
  const { service, sets, access, config, metrics, clock, log, version, bug } = options;
  const { limits } = config;
  const parser = new TimerParser(config);
  const { strict = () => false } = options;
  const timers = { service, sets, limits, parser, wall: () => clock.wall(), strict };
  const routes: Route[] = [
    ...heedSeen(service, [
      ...timerRoutes(timers),
      ...attemptRoutes(service),
      ...runRoutes(timers),
      ...batchRoutes({
        ...timers,
        work: new LongWork(clock),
        charge: (caller, cost) => access.charge(caller, cost),
      }),
      ...deadLetterRoutes({ service, limits }),
      ...historyRoutes({ history: options.history, limits }),
    ]),
    ...previewRoutes(timers),
    ...lockRoutes(options.readRings ?? null),
    ...(options.doctor === undefined ? [] : doctorRoutes(options.doctor)),
    ...adminRoutes({
      control: options.control,
      history: options.history,
      metrics,
      clock,
      log,
      document: () => (document ??= JSON.stringify(openApi(version, routes))),
      openMetrics: config.auth.openMetrics,
    }),
    ...(options.routes ?? []),
  ];
  let document: string | undefined;
  const browsers = new Browsers(config.access);
  const { bodyBytesMax } = limits;
  return new Router({ routes, access, browsers, metrics, clock, bodyBytesMax, bug });
}
