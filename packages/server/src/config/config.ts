/**
 * Every option of a member, declared once: its default, its kind, and the cost of a lower or a higher value. `Config`
 * is derived from this table, and so are the names: `limits.bodyBytesMax` in a file is
 * `CARILLON_LIMITS_BODY_BYTES_MAX` in the environment and `--limits-body-bytes-max` as a flag. Units are in the
 * names; times and sizes may also be written with a unit (`10s`, `8MiB`). The groups are in `options/`; `load.ts` reads
 * the sources.
 */
import { access, auth } from './options/access.ts';
import { callbacks, history, retry } from './options/callbacks.ts';
import { advertise, cluster, etcd, locks, shutdown } from './options/cluster.ts';
import { limits } from './options/limits.ts';
import { memberOptions } from './options/member.ts';
import { type Option, option } from './options/option.ts';
import { telemetry } from './options/telemetry.ts';
import { type Quotas, quotasKind } from './quota.ts';

const options = {
  ...memberOptions,
  limits,
  namespaces: option<Quotas>(
    {},
    quotasKind,
    'Quotas by the name of a namespace, and under "*" for all that are not named: timerCountMax, bytesMax, letterCountMax, ratePerSecond, callbackShare. Each member counts for itself; over its quota a namespace is refused with 429, and no other is. With strict: true a timer with an unknown member in its body is refused with 400; otherwise the answer has the header Carillon-Warning. With keepAnswers: false no bytes of the answers of failing receivers are kept. events ({ uri, kinds, form }) names the URL that gets events of dead letters, failing receivers and more (docs/events.md). letterAgeMsMax drops dead letters that are older, letterKeptCountMax the oldest of more than that many at a member. historyBytesMax bounds the history of the namespace on disk. As JSON in flags and environment. Read again on SIGHUP and when the configuration file changes. Not set: 80 % of limits.pendingTimerCountMax, 2 GiB of bytes of clients, half of limits.deadLetterCountMax, no rate, share 1, not strict, answers are kept, no events, letters are kept for ever, half of history.bytesMax.',
  ),
  history,
  callbacks,
  retry,
  telemetry,
  shutdown,
  cluster,
  etcd,
  locks,
  auth,
  access,
  advertise,
} as const;

type ValuesOf<T> = {
  readonly [K in keyof T]: T[K] extends Option<infer V> ? V : ValuesOf<T[K]>;
};

export type Config = ValuesOf<typeof options>;
export type Limits = Config['limits'];

export interface OptionEntry {
  readonly key: string;
  readonly spec: Option<unknown>;
}

/** Every option with its dotted name, in the order of the table. */
export function eachOption(): OptionEntry[] {
  const found: OptionEntry[] = [];
  const walk = (group: object, prefix: string): void => {
    for (const [name, entry] of Object.entries(group)) {
      if ('kind' in entry) found.push({ key: prefix + name, spec: entry as Option<unknown> });
      else walk(entry as object, `${prefix}${name}.`);
    }
  };
  walk(options, '');
  return found;
}

/** A configuration from dotted names; options that are not named have their default. */
export function configOf(values: ReadonlyMap<string, unknown> = new Map()): Config {
  const config: Record<string, unknown> = {};
  for (const { key, spec } of eachOption()) {
    const groups = key.split('.');
    const name = groups.pop() as string;
    let into = config;
    for (const group of groups) into = (into[group] ??= {}) as Record<string, unknown>;
    into[name] = values.has(key) ? values.get(key) : spec.value;
  }
  return config as unknown as Config;
}

export const defaultConfig: Config = configOf();
