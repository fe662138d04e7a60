import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Wheel } from './wheel.ts';

/** The same behaviour with nothing clever in it. */
class Twin {
  private readonly entries = new Map<number, number>();

  get size(): number {
    return this.entries.size;
  }

  insert(handle: number, dueMs: number): void {
    this.entries.set(handle, dueMs);
  }

  remove(handle: number): boolean {
    return this.entries.delete(handle);
  }

  has(handle: number): boolean {
    return this.entries.has(handle);
  }

  due(nowMs: number): Set<number> {
    const due = [...this.entries].filter(([, dueMs]) => Math.ceil(dueMs) <= nowMs);
    return new Set(due.map(([handle]) => handle));
  }

  next(): number | null {
    return this.size === 0 ? null : Math.min(...[...this.entries.values()].map(Math.ceil));
  }
}

const yearMs = 365.25 * 24 * 3600 * 1000;

/** Times that matter: around the edges of tiers, fractions, the past, a hundred years ahead. */
const aheadMs = fc.oneof(
  fc.integer({ min: -100, max: 200 }),
  fc.integer({ min: -5000, max: 300_000 }),
  fc.double({ min: -10, max: 5000, noNaN: true }),
  fc
    .tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: -2, max: 2 }), fc.nat(64))
    .map(([tier, off, slot]) => 64 ** tier * slot + off),
  fc.double({ min: 0, max: 100 * yearMs, noNaN: true }),
);

const operation = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('insert' as const), handle: fc.nat(40), aheadMs }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), handle: fc.nat(40) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      byMs: fc.oneof(
        fc.nat(100),
        fc.double({ min: 0, max: 5000, noNaN: true }),
        fc.nat(2 ** 31),
        aheadMs,
      ),
      max: fc.constantFrom(1, 2, 5, 1000),
    }),
  },
);

/** Everything due at `nowMs`, in the order handed out. */
function drain(wheel: Wheel, nowMs: number, max: number): number[] {
  const out: number[] = [];
  for (let next = wheel.nextDue(); next !== null && next <= nowMs; next = wheel.nextDue()) {
    wheel.advance(nowMs, max, out);
  }
  return out;
}

describe('wheel', () => {
  it('hands out exactly the handles that a sorted list would, for any inserts, removals and advances', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0, -1e6, 123.456, -0.5, 7e11),
        fc.array(operation, { maxLength: 120 }),
        (startMs, operations) => {
          const wheel = new Wheel();
          const twin = new Twin();
          let nowMs = startMs;
          for (const op of operations) {
            if (op.do === 'insert') {
              wheel.insert(op.handle, nowMs + op.aheadMs);
              twin.insert(op.handle, nowMs + op.aheadMs);
            } else if (op.do === 'remove') {
              expect(wheel.remove(op.handle)).toBe(twin.remove(op.handle));
            } else {
              nowMs += Math.max(0, op.byMs);
              const out: number[] = [];
              expect(wheel.advance(nowMs, op.max, out)).toBe(out.length);
              const due = twin.due(nowMs);
              expect(out.length).toBeLessThanOrEqual(op.max);
              for (const handle of out) {
                expect(due.has(handle)).toBe(true);
                twin.remove(handle);
              }
              if (out.length < op.max) expect(twin.due(nowMs).size).toBe(0);
            }
            expect(wheel.size).toBe(twin.size);
            const next = wheel.nextDue();
            const exact = twin.next();
            if (exact === null) expect(next).toBeNull();
            else expect(next).toBeLessThanOrEqual(Math.max(exact, nowMs));
          }
          const due = twin.due(nowMs);
          expect(new Set(drain(wheel, nowMs, 3))).toEqual(due);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('hands out in order of ticks, when nothing is inserted behind the present', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.nat(1000), fc.nat(2 ** 30)), { maxLength: 200 }),
        fc.integer({ min: 1, max: 50 }),
        (dues, max) => {
          const wheel = new Wheel();
          dues.forEach((dueMs, handle) => wheel.insert(handle, dueMs));
          const order = drain(wheel, 2 ** 31, max).map((handle) => dues[handle] as number);
          expect(order).toEqual(dues.toSorted((a, b) => a - b));
        },
      ),
    );
  });

  it('reaches every entry by sleeping until nextDue, and never wakes without getting closer', () => {
    fc.assert(
      fc.property(fc.array(aheadMs, { minLength: 1, maxLength: 30 }), (dues) => {
        const wheel = new Wheel();
        dues.forEach((dueMs, handle) => wheel.insert(handle, dueMs));
        const seen = new Map<number, number>();
        let nowMs = -5001;
        for (let wakes = 0; wheel.size > 0; wakes++) {
          expect(wakes).toBeLessThan(dues.length * 10);
          nowMs = Math.max(nowMs, wheel.nextDue() as number);
          const out: number[] = [];
          wheel.advance(nowMs, 100, out);
          for (const handle of out) seen.set(handle, nowMs);
        }
        dues.forEach((dueMs, handle) =>
          expect(seen.get(handle)).toBe(Math.max(-5001, Math.ceil(dueMs)) + 0),
        );
      }),
    );
  });

  it('is not early by a fraction of a millisecond', () => {
    const wheel = new Wheel();
    wheel.insert(1, 10.25);
    const out: number[] = [];
    expect(wheel.advance(10.25, 10, out)).toBe(0);
    expect(wheel.advance(10.999, 10, out)).toBe(0);
    expect(wheel.advance(11, 10, out)).toBe(1);
  });

  it('is not early when the time it is told goes back', () => {
    const wheel = new Wheel();
    const out: number[] = [];
    wheel.advance(1000, 10, out);
    wheel.insert(1, 1005);
    wheel.advance(500, 10, out);
    expect(wheel.advance(600, 10, out)).toBe(0);
    expect(wheel.advance(1005, 10, out)).toBe(1);
  });

  it('gives an overdue handle to the very next advance, even at the same time', () => {
    const wheel = new Wheel();
    const out: number[] = [];
    wheel.advance(5000.5, 10, out);
    wheel.insert(7, -3);
    wheel.insert(8, 5000);
    expect(wheel.nextDue()).toBe(5000);
    expect(wheel.advance(5000.5, 10, out)).toBe(2);
    expect(out.toSorted((a, b) => a - b)).toEqual([7, 8]);
  });

  it('takes no more than asked for, and the rest later', () => {
    const wheel = new Wheel();
    for (let handle = 0; handle < 100; handle++) wheel.insert(handle, 50);
    const out: number[] = [];
    expect(wheel.advance(60, 30, out)).toBe(30);
    expect(wheel.size).toBe(70);
    expect(wheel.nextDue()).toBe(50);
    expect(wheel.advance(60, 100, out)).toBe(70);
    expect(new Set(out).size).toBe(100);
    expect(wheel.nextDue()).toBeNull();
  });

  it('spreads a slot with very many entries over several calls and loses none', () => {
    const wheel = new Wheel();
    const count = 50_000;
    const out: number[] = [];
    wheel.advance(0, 1, out);
    for (let handle = 0; handle < count; handle++) wheel.insert(handle, 300_000 + (handle % 1000));
    // A removal and an insertion while the slot is half spread.
    expect(wheel.advance(300_000, 10, out)).toBe(0);
    expect(wheel.nextDue()).toBeLessThanOrEqual(300_000);
    wheel.remove(0);
    wheel.remove(count - 1);
    wheel.insert(count, 300_000);
    const all = drain(wheel, 301_000, 1000);
    expect(all.length).toBe(count - 1);
    expect(new Set(all).size).toBe(count - 1);
    expect(all).not.toContain(0);
  });

  it('wakes and cascades as the example in its header says', () => {
    const wheel = new Wheel();
    wheel.advance(1000, 10, []);
    for (const [handle, dueMs] of [1010, 1100, 6000].entries()) wheel.insert(handle, dueMs);
    const wakes: [number, number[]][] = [];
    for (let next = wheel.nextDue(); next !== null; next = wheel.nextDue()) {
      const out: number[] = [];
      wheel.advance(next, 10, out);
      wakes.push([next, out]);
    }
    expect(wakes).toEqual([
      [1010, [0]],
      [1088, []],
      [1100, [1]],
      [4096, []],
      [5952, []],
      [6000, [2]],
    ]);
  });

  it('moves a handle that is inserted again', () => {
    const wheel = new Wheel();
    wheel.insert(3, 100);
    wheel.insert(3, 10_000);
    expect(wheel.size).toBe(1);
    expect(drain(wheel, 9999, 10)).toEqual([]);
    expect(drain(wheel, 10_000, 10)).toEqual([3]);
    expect([wheel.size, wheel.remove(3)]).toEqual([0, false]);
  });

  it('holds handles far apart and times at both ends of the world', () => {
    const wheel = new Wheel();
    wheel.insert(1_000_000, Number.MAX_SAFE_INTEGER);
    wheel.insert(0, Number.NEGATIVE_INFINITY);
    wheel.insert(70_000, 100 * yearMs);
    expect(wheel.remove(65_536)).toBe(false);
    expect(wheel.remove(60_000)).toBe(false);
    wheel.insert(60_000, 50 * yearMs);
    expect(drain(wheel, 0, 10)).toEqual([0]);
    expect(drain(wheel, 50 * yearMs, 10)).toEqual([60_000]);
    expect(drain(wheel, 100 * yearMs, 10)).toEqual([70_000]);
    expect(drain(wheel, 1000 * yearMs, 10)).toEqual([]);
    expect(() => wheel.insert(1, Number.NaN)).toThrow(/invariant/);
    expect(() => wheel.advance(Number.NaN, 1, [])).toThrow(/invariant/);
  });
});
