/** Connects spans and metrics with the rest of a member. */
import { Telemetry } from '../telemetry/telemetry.ts';
import { SteadyInstants } from '../timer/due-wall.ts';
import type { Parts } from './parts.ts';

/** null: nothing is recorded. */
export function createTelemetry(parts: Parts): Telemetry | null {
  const { options, metrics, cluster } = parts;
  const { otlp = null, env, config, name, release } = options;
  if (otlp === null) return null;
  const instants = new SteadyInstants();
  const wallMs = (): number => instants.of(cluster.state.instant()).wallMs;
  const { sampleRatio, intervalMs } = config.telemetry;
  return new Telemetry({
    clock: env.clock,
    random: env.random,
    log: env.log,
    otlp,
    sampleRatio,
    intervalMs,
    wallMs,
    distanceMs: () => wallMs() - env.clock.now(),
    exporting: { member: name, cluster: config.cluster.name, version: release.version },
    idOf: (record) => parts.ids.of(record),
    readMetrics: () => metrics.readings(),
    counted: (result, count) => metrics.spans.add(result, count),
  });
}
