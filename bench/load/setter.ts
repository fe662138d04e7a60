/** The calls that every system offers, so that all get the same load. */

/** When a timer is due: so long after it is set, or at an instant. */
export type Due = { readonly inMs: number } | { readonly atMs: number };

export interface Spec {
  /** Which one of the run; the receiver tells timers apart by it. */
  readonly index: number;
  readonly due: Due;
}

export interface Recurring {
  readonly index: number;
  readonly firstMs: number;
  readonly everyMs: number;
  readonly count: number;
}

export interface CronSpec {
  readonly index: number;
  readonly pattern: string;
  readonly count: number;
}

export interface Setter {
  /** One timer, one call; resolves once the system has confirmed it. */
  set(spec: Spec): Promise<void>;
  /** Many timers in one call. */
  setMany(specs: readonly Spec[]): Promise<void>;
  /** Sets the timer, and from the second call on with the same index puts its due time off. */
  refresh(spec: Spec): Promise<void>;
  recur(recurring: Recurring): Promise<void>;
  /** Timers by a cron pattern, many in one call. Only where it is measured. */
  cronMany?(crons: readonly CronSpec[]): Promise<void>;
  /** Ends a timer that `refresh` set. Only where it is measured. */
  cancel?(index: number): Promise<void>;
  /** Calls that had to be made again at another member. */
  readonly repeated?: number;
  close(): Promise<void>;
}

/**
 * How a member is asked: through its own library; by plain HTTP over four connections that all calls share without
 * waiting for each other's answers; over a connection for each call in flight; or by the `fetch` of Node.
 */
export type CarillonWay = 'carillon-client' | 'carillon' | 'carillon-apart' | 'carillon-fetch';

export interface CarillonConfig {
  readonly kind: CarillonWay;
  readonly urls: readonly string[];
  /** Where callbacks go. */
  readonly uri: string;
  /** Replicas of a timer whose number the client chooses. */
  readonly factor: number;
  /** Whether callbacks that are due together may come in one request. */
  readonly batch?: boolean;
}

export type SetterConfig =
  | CarillonConfig
  | { readonly kind: 'bullmq'; readonly port: number }
  | { readonly kind: 'pg-boss'; readonly connectionString: string }
  | { readonly kind: 'graphile'; readonly connectionString: string }
  | { readonly kind: 'settimeout'; readonly uri: string }
  | { readonly kind: 'heap'; readonly uri: string };

const payloadLength = 64;
const indexLength = 10;

/** 64 bytes, of which the first ten are the index. */
export function payloadOf(index: number): string {
  return String(index).padStart(indexLength, '0').padEnd(payloadLength, 'x');
}

export function indexOf(payload: string): number {
  return Number(payload.slice(0, indexLength));
}

export function delayMs(due: Due): number {
  return 'inMs' in due ? due.inMs : Math.max(0, due.atMs - Date.now());
}

export function instantMs(due: Due): number {
  return 'inMs' in due ? Date.now() + due.inMs : due.atMs;
}

/** The queue's name in Redis and PostgreSQL. */
export const queueName = 'timers';

/** Of a timer whose number the client chooses, so that a PUT of the same index replaces the timer. */
export function numberedPath(index: number, factor: number): string {
  return `/timers/${numberedId(index, factor)}`;
}

export function numberedId(index: number, factor: number): string {
  return `${(index + 1).toString(16).padStart(16, '0')}-${factor}`;
}
