/** The settings that all processes of a ring must share, kept in etcd at `P/config` and never changed. */
import { RingConfigError } from './errors.ts';
import type { Etcd } from './etcd/etcd.ts';
import { fingerprint, type RingPlacement } from './placements.ts';

/** Raised when records or rules change so that old and new processes must not share a ring. */
const version = 1;
const limitMs = 5000;
/** A claim of all slots is a handful of transactions at 1024; more only makes every change dearer. */
const slotsMax = 16_384;
const ttlMsMax = 3_600_000;

/** Throws a sentence for options that cannot be. */
export function checkOptions(options: RingLimits): void {
  const { prefix, ttlMs = 5000, marginMs = 0, drainMs = 0 } = options;
  if (typeof prefix !== 'string' || prefix === '' || isSlashed(prefix)) {
    throw new RingConfigError(
      `ring: the prefix must be a name such as "billing", not "${prefix}".`,
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

/** Writes the configuration if the prefix is new; refuses to open when another one is there. */
export async function agreeOnConfig(
  etcd: Etcd,
  prefix: string,
  own: { slots: number; placement: RingPlacement },
): Promise<void> {
  const { slots, placement } = own;
  if (!Number.isInteger(slots) || slots < 1 || slots > slotsMax) {
    throw new RingConfigError(
      `ring: ${slots} slots; a whole number from 1 to ${slotsMax} is right.`,
    );
  }
  const key = `${prefix}config`;
  const name = `${placement.name}/${fingerprint(placement, slots)}`;
  const value = JSON.stringify({ version, slots, placement: name });
  const found = await readOrWrite(etcd, key, value);
  if (found !== value) {
    throw new RingConfigError(
      `ring: "${prefix}" is in use with other settings: it has ${found}, this process wants ${value}.`,
    );
  }
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

function isSlashed(prefix: string): boolean {
  return prefix.startsWith('/') || prefix.endsWith('/');
}
