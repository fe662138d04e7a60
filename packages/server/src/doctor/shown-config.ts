/**
 * A configuration that may be shown to strangers: numbers, switches and words as they are, URIs cut to their origins,
 * and of every other text that it is set. Texts are shown by name, so that a new option is hidden until it is listed
 * here.
 */
import { type Config, eachOption } from '../config/config.ts';
import type { Quotas } from '../config/quota.ts';

const shownTexts: ReadonlySet<string> = new Set([
  'listen',
  'durability',
  'name',
  'logLevel',
  'callbacks.allow',
  'cluster.name',
  'cluster.peerListen',
  'advertise.address',
  'advertise.peer',
  'locks.rings',
]);

const hidden = '(set)';

export function shownConfig(config: Config): Record<string, unknown> {
  const shown = eachOption().map(({ key }): [string, unknown] => {
    const value = valueOf(config, key);
    if (key === 'namespaces') return [key, shownQuotas(value as Quotas)];
    return [key, shownTexts.has(key) ? value : withoutTexts(value)];
  });
  return Object.fromEntries(shown);
}

function shownQuotas(quotas: Quotas): object {
  return Object.fromEntries(
    Object.entries(quotas).map(([name, { events, ...quota }]) => {
      const cut = events == null ? {} : { events: { ...events, uri: originOf(events.uri) } };
      return [name, { ...quota, ...cut }];
    }),
  );
}

function valueOf(config: Config, key: string): unknown {
  let value: unknown = config;
  for (const name of key.split('.')) value = (value as Record<string, unknown>)[name];
  return value;
}

function withoutTexts(value: unknown): unknown {
  if (typeof value === 'string') return originOf(value);
  if (Array.isArray(value)) return value.map(withoutTexts);
  return typeof value === 'object' && value !== null ? hidden : value;
}

/** Of a text that is no URI only that it is set. */
function originOf(text: string): string {
  const url = URL.parse(text);
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  return isWeb ? url.origin : hidden;
}
