/** The routes of a member: the API over its parts, and the pages beside it. */
import { Access } from '../access/access.ts';
import { NamespaceRates } from '../access/namespace-rates.ts';
import { rateOf } from '../access/rate-limit.ts';
import type { Router } from '../api/router.ts';
import { createRouter } from '../api/routes/create-router.ts';
import type { Doctor } from '../doctor/doctor.ts';
import { Coordinator } from '../request/coordinator.ts';
import { GatheredHistory } from '../request/history.ts';
import type { MemberControl, SetService } from '../request/service.ts';
import { Sets } from '../request/set.ts';
import { TracedSets } from '../request/traced-sets.ts';
import type { Parts } from './parts.ts';

export function createRoutes(parts: Parts, control: MemberControl, doctor: Doctor): Router {
  const { options, metrics, quotas, requestParts, changes } = parts;
  const { env, config, onFailed, release, routes } = options;
  return createRouter({
    access: options.access ?? openAccess(parts),
    routes: routes?.(control, metrics) ?? [],
    readRings: options.readRings ?? null,
    strict: (namespace) => quotas.of(namespace).strict,
    service: new Coordinator(requestParts, changes),
    history: new GatheredHistory(requestParts),
    sets: createSets(parts),
    control,
    doctor,
    metrics: metrics,
    log: env.log,
    clock: env.clock,
    config,
    version: release.version,
    bug: onFailed,
  });
}

function createSets({ options, requestParts, changes, telemetry }: Parts): SetService {
  const sets = new Sets(requestParts, changes);
  if (telemetry === null) return sets;
  return new TracedSets({ sets, tracer: telemetry.tracer, clock: options.env.clock });
}

/** Access for a member without tokens: every caller may do everything. */
function openAccess({ options, quotas }: Parts): Access {
  const { clock } = options.env;
  const namespaceRates = new NamespaceRates(quotas);
  return new Access({ clock, rate: rateOf(options.config.limits), namespaceRates });
}
