/**
 * The quota of a namespace: how much it may take of a member. `namespaces` of the configuration holds quotas by the
 * name of a namespace, and under `*` for all that are not named; a limit that neither sets has a default that leaves
 * room for others.
 */
import type { Limits } from './config.ts';
import { type EventWish, eventWish } from './options/event-wish.ts';
import { bytes, type Kind, ms, optional, whole, Wrong, yesNo } from './options/kinds.ts';
import { anyNamespace, isNamespace, namespaceRule } from './namespace.ts';

export interface Quota {
  /** Timers that are pending. */
  readonly timerCountMax: number;
  /** Bytes of clients that are kept with timers and dead letters. */
  readonly bytesMax: number;
  readonly letterCountMax: number;
  /** Dead letters older than this are dropped; null: none is for its age. */
  readonly letterAgeMsMax: number | null;
  /** Beyond so many dead letters at a member the oldest are dropped; null: none is for their number. */
  readonly letterKeptCountMax: number | null;
  /** Requests a second, each timer of a batch counted as one; null: no limit. */
  readonly ratePerSecond: number | null;
  /** Weight among the namespaces that wait for places of callbacks. */
  readonly callbackShare: number;
  /** Whether a body with members that a timer does not have is refused; otherwise the answer tells of them. */
  readonly strict: boolean;
  /** Whether the first bytes of the answers of failing receivers are kept, for attempts, dead letters and the log. */
  readonly keepAnswers: boolean;
  /** Events that the namespace is told of, and where; null: none. */
  readonly events: EventWish | null;
  /** Bytes of the history on disk; null: half of all. */
  readonly historyBytesMax: number | null;
}

export type Quotas = Readonly<Record<string, Partial<Quota>>>;

const GiB = 1024 ** 3;
/** Shares of the limits of the whole member. */
const timerRatio = 0.8;
const letterRatio = 0.5;

const kinds: { readonly [K in keyof Quota]: Kind<Quota[K]> } = {
  timerCountMax: whole(0, 1_000_000_000),
  bytesMax: bytes(0, 1024 * GiB),
  letterCountMax: whole(0, 100_000_000),
  letterAgeMsMax: optional(ms(60_000, 36_500 * 86_400_000)),
  letterKeptCountMax: optional(whole(1, 100_000_000)),
  ratePerSecond: optional(whole(1, 10_000_000)),
  callbackShare: whole(1, 1000),
  strict: yesNo,
  keepAnswers: yesNo,
  events: eventWish,
  historyBytesMax: optional(bytes(0, 1024 * GiB)),
};

/** An object in files; the same as JSON in flags and environment. */
export const quotasKind: Kind<Quotas> = (raw) => {
  const given = typeof raw === 'string' ? parsed(raw) : raw;
  if (!isObject(given)) return new Wrong('an object of namespaces, or "*", with their quotas');
  const quotas: Record<string, Partial<Quota>> = {};
  for (const [name, limits] of Object.entries(given)) {
    if (name !== anyNamespace && !isNamespace(name)) {
      return new Wrong(`an object in which each name is "*" or a namespace of ${namespaceRule}`);
    }
    const quota = quotaOf(limits);
    if (quota instanceof Wrong)
      return new Wrong(`an object in which "${name}" is ${quota.expected}`);
    quotas[name] = quota;
  }
  return quotas;
};

/** The quota in force for a namespace. */
export function quotaFor(quotas: Quotas, namespace: string, limits: Limits): Quota {
  return {
    timerCountMax: Math.floor(limits.pendingTimerCountMax * timerRatio),
    bytesMax: 2 * GiB,
    letterCountMax: Math.floor(limits.deadLetterCountMax * letterRatio),
    letterAgeMsMax: null,
    letterKeptCountMax: null,
    ratePerSecond: null,
    callbackShare: 1,
    strict: false,
    keepAnswers: true,
    events: null,
    historyBytesMax: null,
    ...quotas[anyNamespace],
    ...(Object.hasOwn(quotas, namespace) ? quotas[namespace] : {}),
  };
}

function quotaOf(given: unknown): Partial<Quota> | Wrong {
  if (!isObject(given)) return new Wrong(`an object of ${Object.keys(kinds).join(', ')}`);
  const quota: Record<string, unknown> = {};
  for (const [key, raw] of Object.entries(given)) {
    if (!Object.hasOwn(kinds, key)) {
      return new Wrong(`an object of ${Object.keys(kinds).join(', ')}, and ${key} is none of them`);
    }
    const value = kinds[key as keyof Quota](raw);
    if (value instanceof Wrong) return new Wrong(`an object in which ${key} is ${value.expected}`);
    quota[key] = value;
  }
  return quota;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
