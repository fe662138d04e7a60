/** The settings that all processes of a ring must share, kept in etcd at `P/config` and never changed. */
import { RingConfigError } from './errors.ts';
import type { Etcd } from './etcd/etcd.ts';
import { fingerprint, rendezvous, type RingPlacement, successor } from './placements.ts';

/** Raised when records or rules change so that old and new processes must not share a ring. */
const version = 1;
const limitMs = 5000;
/** A claim of all slots is a handful of transactions at 1024; more only makes every change dearer. */
const slotsMax = 16_384;
const slotsDefault = 1024;
const ttlMsMax = 3_600_000;

/** Throws a sentence for options that cannot be. */
export function checkOptions(options: RingLimits): void {
  const { prefix, ttlMs = 5000, marginMs = 0, drainMs = 0 } = options;
  if (typeof prefix !== 'string' || prefix === '' || prefix.endsWith('/')) {
    throw new RingConfigError(
      `ring: the prefix must be a name such as "billing" or "/apps/billing", not "${prefix}".`,
    );
  }
  if (!(ttlMs >= 1000 && ttlMs <= ttlMsMax)) {
    throw new RingConfigError(`ring: ttlMs is ${ttlMs}; from 1000 to ${ttlMsMax} is right.`);
  }
  if (!(marginMs >= 0 && marginMs < ttlMs)) {
    throw new RingConfigError(`ring: marginMs is ${marginMs}; from 0 to less than ttlMs is right.`);
  }
  if (!(drainMs >= 0)) {
    throw new RingConfigError(`ring: drainMs is ${drainMs}; 0 or more, or Infinity, is right.`);
  }
}

interface RingLimits {
  readonly prefix: string;
  readonly ttlMs?: number;
  readonly marginMs?: number;
  readonly drainMs?: number;
}

export interface RingConfig {
  readonly slots: number;
  readonly placement: RingPlacement;
}

/**
 * Writes the configuration if the prefix is new. Where one is there already, it holds: a setting that this process leaves open
 * is taken from it, a different one is refused.
 */
export async function agreeOnConfig(
  etcd: Etcd,
  prefix: string,
  wanted: Partial<RingConfig>,
): Promise<RingConfig> {
  const { slots = slotsDefault, placement = rendezvous } = wanted;
  if (!Number.isInteger(slots) || slots < 1 || slots > slotsMax) {
    throw new RingConfigError(
      `ring: ${slots} slots; a whole number from 1 to ${slotsMax} is right.`,
    );
  }
  const key = `${prefix}config`;
  const value = encode({ slots, placement });
  const found = await readOrWrite(etcd, key, value);
  if (found === value) return { slots, placement };
  const there = decode(found);
  if (there === null || (wanted.slots ?? there.slots) !== there.slots || isOther(wanted, there)) {
    throw new RingConfigError(
      `ring: "${prefix}" is in use with other settings: it has ${found}, this process wants ${value}.`,
    );
  }
  return there;
}

/** Whether a ring is there under the prefix. */
export async function hasConfig(etcd: Etcd, prefix: string): Promise<boolean> {
  const read = { when: [], success: [{ get: `${prefix}/config` }], failure: [] };
  return ((await etcd.txn(read, limitMs)).found[0] ?? null) !== null;
}

function isOther({ placement }: Partial<RingConfig>, there: RingConfig): boolean {
  return placement !== undefined && nameOf({ ...there, placement }) !== nameOf(there);
}

function encode(config: RingConfig): string {
  return JSON.stringify({ version, slots: config.slots, placement: nameOf(config) });
}

/** Null: not a ring of this version, or one with a placement that only its own processes know. */
function decode(value: string): RingConfig | null {
  try {
    const { version: form, slots, placement } = JSON.parse(value) as Record<string, unknown>;
    if (form !== version || typeof slots !== 'number') return null;
    const configs = [rendezvous, successor()].map((one) => ({ slots, placement: one }));
    return configs.find((config) => nameOf(config) === placement) ?? null;
  } catch {
    return null;
  }
}

function nameOf({ slots, placement }: RingConfig): string {
  return `${placement.name}/${fingerprint(placement, slots)}`;
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
