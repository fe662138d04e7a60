/**
 * How much one caller may ask for: token buckets, decided by pure arithmetic.
 *
 * R1  Within any span a caller gets at most `burst`, plus the rate times the span, plus the cost of one request.
 * R2  A request is admitted while the bucket holds at least one; its cost may take the bucket below zero, because the
 *     cost of a batch is known only when it has been read. Then nothing more is admitted until that is paid back.
 * R3  No more than `bucketsMax` callers are remembered. Beyond that, the callers that have not asked for longest are
 *     forgotten, which only gives them a full bucket again.
 */

export interface Rate {
  readonly perSecond: number;
  /** Requests that may come at once after a quiet time. */
  readonly burst: number;
}

export interface Bucket {
  /** Tokens left in the bucket as of `atMs`; negative while more was taken than there was. */
  level: number;
  atMs: number;
}

/** The configured rate; null: no limit. */
export function rateOf(limits: {
  readonly ratePerSecond: number | null;
  readonly rateBurst: number | null;
}): Rate | null {
  const { ratePerSecond, rateBurst } = limits;
  if (ratePerSecond === null) return null;
  return { perSecond: ratePerSecond, burst: rateBurst ?? ratePerSecond };
}

/** The level of the bucket at `nowMs`. */
export function levelAt({ level, atMs }: Bucket, nowMs: number, rate: Rate): number {
  const passedMs = Math.max(0, nowMs - atMs);
  return Math.min(rate.burst, level + (passedMs * rate.perSecond) / 1000);
}

/** Milliseconds until a request may come; 0: now. */
export function waitMs(bucket: Bucket, nowMs: number, rate: Rate): number {
  const lack = 1 - levelAt(bucket, nowMs, rate);
  return lack <= 0 ? 0 : (lack * 1000) / rate.perSecond;
}

export const bucketsMax = 10_000;

export class RateLimits {
  private readonly rate: Rate;
  /** By caller; the most recent caller is last. */
  private readonly buckets = new Map<string, Bucket>();

  constructor(rate: Rate) {
    this.rate = rate;
  }

  /** Takes one for a request of `key`, if it may come; else how many milliseconds it is too early. */
  ask(key: string, nowMs: number): number {
    const bucket = this.bucket(key, nowMs);
    const early = waitMs(bucket, nowMs, this.rate);
    if (early === 0) this.take(bucket, nowMs, 1);
    return early;
  }

  /** Takes `cost` more for a request that was admitted. */
  charge(key: string, nowMs: number, cost: number): void {
    this.take(this.bucket(key, nowMs), nowMs, cost);
  }

  private take(bucket: Bucket, nowMs: number, cost: number): void {
    bucket.level = levelAt(bucket, nowMs, this.rate) - cost;
    bucket.atMs = nowMs;
  }

  private bucket(key: string, nowMs: number): Bucket {
    const known = this.buckets.get(key);
    const bucket = known ?? { level: this.rate.burst, atMs: nowMs };
    if (known !== undefined) this.buckets.delete(key);
    else if (this.buckets.size >= bucketsMax) {
      for (const oldest of this.buckets.keys()) {
        this.buckets.delete(oldest);
        break;
      }
    }
    this.buckets.set(key, bucket);
    return bucket;
  }
}
