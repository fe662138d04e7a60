import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bucketsMax, levelAt, RateLimits, rateOf, waitMs } from './rate-limit.ts';
import { networkOf } from './remote.ts';

const rates = fc.record({
  perSecond: fc.integer({ min: 1, max: 1000 }),
  burst: fc.integer({ min: 1, max: 1000 }),
});
/** Requests: the time since the one before, and their cost. */
const arrivals = fc.array(
  fc.record({ afterMs: fc.nat({ max: 5000 }), cost: fc.integer({ min: 1, max: 500 }) }),
  { maxLength: 60 },
);

/** The requests that are let in, by time. */
function admitted(rate: { perSecond: number; burst: number }, asked: readonly Arrival[]) {
  const limits = new RateLimits(rate);
  let nowMs = 0;
  return asked.flatMap(({ afterMs, cost }) => {
    nowMs += afterMs;
    if (limits.ask('k', nowMs) > 0) return [];
    limits.charge('k', nowMs, cost - 1);
    return [{ atMs: nowMs, cost }];
  });
}
interface Arrival {
  readonly afterMs: number;
  readonly cost: number;
}

describe('rate limits', () => {
  test('in no span more than the burst, the rate times the span, and one request', () => {
    fc.assert(
      fc.property(rates, arrivals, (rate, asked) => {
        const let_in = admitted(rate, asked);
        for (let from = 0; from < let_in.length; from++) {
          let sum = 0;
          for (let to = from; to < let_in.length; to++) {
            const { atMs, cost } = let_in[to] as { atMs: number; cost: number };
            const spanMs = atMs - (let_in[from]?.atMs ?? 0);
            // The last one may overdraw; everything before it had to fit.
            expect(sum).toBeLessThanOrEqual(
              rate.burst + (spanMs * rate.perSecond) / 1000 - 1 + 1e-6,
            );
            sum += cost;
          }
        }
      }),
    );
  });

  test('a caller that waits as long as told is let in, and not before', () => {
    fc.assert(
      fc.property(rates, fc.nat({ max: 5000 }), (rate, taken) => {
        const bucket = { level: rate.burst - taken, atMs: 0 };
        const early = waitMs(bucket, 0, rate);
        expect(waitMs(bucket, early + 0.001, rate)).toBe(0);
        if (early > 1) expect(waitMs(bucket, early - 1, rate)).toBeGreaterThan(0);
      }),
    );
  });

  test('a bucket never holds more than the burst, and a clock that stands still gives nothing', () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: -1000, max: 1000 }), fc.nat(), (rate, level, ms) => {
        const bucket = { level: Math.min(level, rate.burst), atMs: 50 };
        expect(levelAt(bucket, 50 + ms, rate)).toBeLessThanOrEqual(rate.burst);
        expect(levelAt(bucket, 50, rate)).toBe(bucket.level);
        expect(levelAt(bucket, 0, rate)).toBe(bucket.level);
      }),
    );
  });

  test('callers beyond the bound push out the callers that have not asked for longest', () => {
    const limits = new RateLimits({ perSecond: 1, burst: 1 });
    for (let i = 0; i < bucketsMax; i++) expect(limits.ask(`caller ${i}`, 0)).toBe(0);
    expect(limits.ask('caller 0', 0)).toBeGreaterThan(0);
    for (let i = 0; i < 100; i++) limits.ask(`more ${i}`, 0);
    expect(limits.ask('caller 0', 0)).toBeGreaterThan(0);
    expect(limits.ask('caller 1', 0)).toBe(0);
  });

  test('a burst that is not said is that of one second; without a rate there is no limit', () => {
    expect(rateOf({ ratePerSecond: null, rateBurst: 7 })).toBeNull();
    expect(rateOf({ ratePerSecond: 5, rateBurst: null })).toEqual({ perSecond: 5, burst: 5 });
    expect(rateOf({ ratePerSecond: 5, rateBurst: 70 })).toEqual({ perSecond: 5, burst: 70 });
  });
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::', '2001:db8:0:0'],
  ['2001:DB8:0000:00a0::9', '2001:db8:0:a0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
