/** The settings that all processes of a ring must share, kept in etcd at `P/config` and never changed. */
import { checkMs, checkNames, nearestName, shown } from './arguments.ts';
import { RingConfigError } from './errors.ts';
import type { Etcd } from './etcd/etcd.ts';
import { fingerprint, rendezvous, type RingPlacement, successor } from './placements.ts';
import type { RingOptions } from './ring.ts';

/** Raised when records or rules change so that old and new processes must not share a ring. */
const version = 1;
const limitMs = 5000;
/** A claim of all slots is a handful of transactions at 1024; more only makes every change dearer. */
const slotsMax = 16_384;
const slotsDefault = 1024;
const ttlMsMax = 3_600_000;

const names = [
  'endpoints',
  'prefix',
  'placement',
  'slots',
  'ttlMs',
  'marginMs',
  'drainMs',
  'tls',
  'auth',
  'log',
  'etcd',
  'clock',
  'random',
] as const satisfies (keyof RingOptions)[];
const refuse = RingConfigError;

/** Throws a sentence for options that cannot be. */
export function checkOptions(options: RingOptions): void {
  checkNames(options, { of: 'Ring.open', known: names, refuse });
  const { prefix, ttlMs = 5000, marginMs = 0, drainMs = 0, tls, auth } = options;
  checkEndpoints(options);
  checkPlacement(options.placement);
  if (tls !== undefined) checkNames(tls, { of: 'tls', known: ['ca', 'cert', 'key'], refuse });
  if (auth !== undefined) checkNames(auth, { of: 'auth', known: ['user', 'password'], refuse });
  checkPorts(options);
  if (typeof prefix !== 'string' || prefix === '' || prefix.endsWith('/')) {
    throw new RingConfigError(
      `ring: the prefix must be a name such as "billing" or "/apps/billing", not ${shown(prefix)}.`,
    );
  }
  checkMs('ttlMs', ttlMs, { min: 1000, max: ttlMsMax, right: `from 1000 to ${ttlMsMax}`, refuse });
  checkMs('marginMs', marginMs, { max: ttlMs - 1, right: 'from 0 to less than ttlMs', refuse });
  checkMs('drainMs', drainMs, { right: '0 or more, or Infinity,', refuse });
}

function checkEndpoints({ endpoints, etcd }: RingOptions): void {
  if (endpoints === undefined && etcd !== undefined) return;
  const isList = Array.isArray(endpoints);
  const odd: unknown = isList ? endpoints.find((one) => typeof one !== 'string') : undefined;
  if (isList && odd === undefined && (endpoints.length > 0 || etcd !== undefined)) return;
  const listed = odd === undefined ? 'is empty' : `has the entry ${shown(odd)}`;
  const given = isList ? listed : `is ${shown(endpoints)}`;
  throw new RingConfigError(
    `ring: endpoints ${given}; a list of addresses such as ['http://127.0.0.1:2379'] is right.`,
  );
}

function checkPlacement(placement: RingOptions['placement']): void {
  if (placement === undefined || typeof placement === 'function') return;
  const known = ['rendezvous', 'successor'];
  const { name, slotOf, assign } = Object(placement) as Partial<RingPlacement>;
  const isOwn = typeof slotOf === 'function' && typeof assign === 'function';
  if (known.includes(placement as string) || (isOwn && typeof name === 'string')) return;
  const near = typeof placement === 'string' ? nearestName(placement, known) : null;
  const hint = near === null ? '' : ` Did you mean "${near}"?`;
  throw new RingConfigError(
    `ring: placement is ${shown(placement)}; "rendezvous", "successor", a hash function, or an object with name, slotOf and assign is right.${hint}`,
  );
}

function checkPorts({ etcd, log }: RingOptions): void {
  if (etcd !== undefined && typeof (etcd as Partial<Etcd> | null)?.txn !== 'function') {
    throw new RingConfigError(
      `ring: etcd is ${shown(etcd)}; a client such as EtcdClient is right. Addresses go to endpoints.`,
    );
  }
  const levels = ['debug', 'info', 'warn', 'error'] as const;
  if (log === undefined || levels.every((level) => typeof log?.[level] === 'function')) return;
  throw new RingConfigError(
    `ring: log is ${shown(log)}; an object with the functions ${levels.join(', ')} is right.`,
  );
}

export interface RingConfig {
  readonly slots: number;
  readonly placement: RingPlacement;
}

/**
 * Writes the configuration if the prefix is new. Where one is there already, it holds: a setting that this process
 * leaves open is taken from it, a different one is refused.
 */
export async function agreeOnConfig(
  etcd: Etcd,
  prefix: string,
  wanted: Partial<RingConfig>,
): Promise<RingConfig> {
  const { slots = slotsDefault, placement = rendezvous } = wanted;
  if (!Number.isInteger(slots) || slots < 1 || slots > slotsMax) {
    throw new RingConfigError(
      `ring: ${shown(slots)} slots; a whole number from 1 to ${slotsMax} is right.`,
    );
  }
  const key = `${prefix}config`;
  const value = encode({ slots, placement });
  const found = await readOrWrite(etcd, key, value);
  if (found === value) return { slots, placement };
  const there = decode(found);
  if (there === null || (wanted.slots ?? there.slots) !== there.slots) {
    throw otherSettings(prefix, found, value);
  }
  const known = wanted.placement === undefined ? [rendezvous, successor()] : [wanted.placement];
  const same = known.find((one) => placesAs(one, there));
  if (same !== undefined) return { slots: there.slots, placement: same };
  if (wanted.placement !== undefined) throw otherSettings(prefix, found, value);
  throw new RingConfigError(
    `ring: "${prefix}" places keys by a hash function of its own (${there.placement}); a process that joins it passes the same function as placement.`,
  );
}

function otherSettings(prefix: string, found: string, wanted: string): RingConfigError {
  return new RingConfigError(
    `ring: "${prefix}" is in use with other settings: it has ${found}, this process wants ${wanted}.`,
  );
}

/** Whether a ring is there under the prefix. */
export async function hasConfig(etcd: Etcd, prefix: string): Promise<boolean> {
  const read = { when: [], success: [{ get: `${prefix}/config` }], failure: [] };
  return ((await etcd.txn(read, limitMs)).found[0] ?? null) !== null;
}

function encode(config: RingConfig): string {
  return JSON.stringify({ version, slots: config.slots, placement: nameOf(config) });
}

/** The settings in etcd; null: not a ring of this version. */
interface StoredConfig {
  readonly slots: number;
  /** The name of a placement and its fingerprint, as `nameOf` writes them. */
  readonly placement: string;
}

function decode(value: string): StoredConfig | null {
  try {
    const { version: form, slots, placement } = JSON.parse(value) as Record<string, unknown>;
    const isRing = form === version && typeof slots === 'number' && typeof placement === 'string';
    return isRing ? { slots, placement } : null;
  } catch {
    return null;
  }
}

function nameOf({ slots, placement }: RingConfig): string {
  return `${placement.name}/${fingerprint(placement, slots)}`;
}

/**
 * Whether a placement gives every key to the member that the stored one gives it to. The fingerprint decides: crc32
 * passed as a bare function has another name than the built-in one, and the same slots.
 */
function placesAs(placement: RingPlacement, { slots, placement: stored }: StoredConfig): boolean {
  return stored.slice(stored.lastIndexOf('/') + 1) === fingerprint(placement, slots);
}

/** The config is written once and always the same way, so a lost answer only means: ask again. */
async function readOrWrite(etcd: Etcd, key: string, value: string): Promise<string> {
  const read = { when: [], success: [{ get: key }], failure: [] };
  const seen = (await etcd.txn(read, limitMs)).found[0];
  if (seen !== null && seen !== undefined) return seen.value;
  const write = {
    when: [{ key, createRevision: 0 }],
    success: [{ put: key, value, lease: 0n }],
    failure: [{ get: key }],
  };
  const answer = await etcd.txn(write, limitMs);
  return answer.succeeded ? value : (answer.found[0]?.value ?? '');
}
