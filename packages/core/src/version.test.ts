import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareVersions,
  formatVersion,
  parseVersion,
  stampedByOne,
  type Version,
  versionAfter,
  VersionClock,
} from './version.ts';

const nowMs = Date.UTC(2026, 0, 1);
const member = fc.integer({ min: 0, max: 1023 });
const wall = fc.oneof(
  fc.integer({ min: nowMs - 5, max: nowMs + 5 }),
  fc.integer({ min: 0, max: 2 ** 45 }),
);
const version = fc.record({
  versionMs: wall,
  versionTie: fc.oneof(
    fc.constantFrom(0, 1023, 1024, 2 ** 32 - 1, 2 ** 32 - 1024),
    fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  ),
});
const event = fc.oneof(
  fc.record({ kind: fc.constant('stamp' as const), wallMs: wall, member }),
  fc.record({ kind: fc.constant('observe' as const), version }),
);

describe('VersionClock', () => {
  it('stamps above everything stamped or observed before, however the wall clock jumps', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 50 }), (events) => {
        const clock = new VersionClock();
        let highest: Version = { versionMs: 0, versionTie: 0 };
        for (const one of events) {
          const seen = one.kind === 'stamp' ? clock.stamp(one.wallMs, one.member) : one.version;
          if (one.kind === 'stamp') expect(compareVersions(seen, highest)).toBeGreaterThan(0);
          else clock.observe(one.version);
          if (compareVersions(seen, highest) > 0) highest = seen;
        }
      }),
    );
  });

  it('says of a version whether observing it would move the clock', () => {
    fc.assert(
      fc.property(fc.array(version, { maxLength: 10 }), version, (before, seen) => {
        const [one, other] = [new VersionClock(), new VersionClock()];
        for (const each of before) {
          one.observe(each);
          other.observe(each);
        }
        other.observe(seen);
        const moved = compareVersions(one.stamp(0, 0), other.stamp(0, 0)) !== 0;
        const clock = new VersionClock();
        for (const each of before) clock.observe(each);
        expect(clock.isPast(seen)).toBe(!moved);
      }),
    );
  });

  it('follows the wall clock while that rises', () => {
    const clock = new VersionClock();
    expect(clock.stamp(nowMs, 7)).toEqual({ versionMs: nowMs, versionTie: 7 });
    expect(clock.stamp(nowMs, 7)).toEqual({ versionMs: nowMs, versionTie: 1024 + 7 });
    expect(clock.stamp(nowMs + 1, 7)).toEqual({ versionMs: nowMs + 1, versionTie: 7 });
    expect(clock.stamp(nowMs - 99, 7)).toEqual({ versionMs: nowMs + 1, versionTie: 1024 + 7 });
  });

  it('two members that have seen the same never stamp the same', () => {
    fc.assert(
      fc.property(version, member, member, wall, (seen, a, b, wallMs) => {
        fc.pre(a !== b);
        const stamps = [a, b].map((one) => {
          const clock = new VersionClock();
          clock.observe(seen);
          return clock.stamp(wallMs, one);
        });
        expect(compareVersions(stamps[0] as Version, stamps[1] as Version)).not.toBe(0);
      }),
    );
  });

  it('goes to the next millisecond when the counter is used up', () => {
    const clock = new VersionClock();
    clock.observe({ versionMs: nowMs, versionTie: 2 ** 32 - 1 });
    expect(clock.stamp(nowMs, 3)).toEqual({ versionMs: nowMs + 1, versionTie: 3 });
  });
});

describe('compareVersions', () => {
  it('orders like reading: milliseconds first, then the tie', () => {
    const rising: Version[] = [
      { versionMs: 1, versionTie: 0 },
      { versionMs: 1, versionTie: 1 },
      { versionMs: 1, versionTie: 2 ** 32 - 1 },
      { versionMs: 2, versionTie: 0 },
    ];
    for (const [i, a] of rising.entries()) {
      for (const [j, b] of rising.entries()) {
        expect(Math.sign(compareVersions(a, b))).toBe(Math.sign(i - j));
      }
    }
  });
});

it('two members never make the same stamp, with any counters', () => {
  fc.assert(
    fc.property(member, member, fc.array(wall, { minLength: 2, maxLength: 9 }), (a, b, walls) => {
      const clock = new VersionClock();
      const first = clock.stamp(walls[0] as number, a);
      for (const wallMs of walls) expect(stampedByOne(first, clock.stamp(wallMs, b))).toBe(a === b);
    }),
  );
});

describe('versionAfter', () => {
  it('is above the version, with nothing in between, and a version itself', () => {
    fc.assert(
      fc.property(version, version, (one, other) => {
        const next = versionAfter(one);
        expect(compareVersions(next, one)).toBeGreaterThan(0);
        if (compareVersions(other, one) > 0) {
          expect(compareVersions(other, next)).toBeGreaterThanOrEqual(0);
        }
        expect(next.versionTie).toBeLessThan(2 ** 32);
      }),
    );
  });
});

describe('versions as text', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(version, (one) => {
        expect(parseVersion(formatVersion(one))).toEqual(one);
      }),
    );
  });

  it('no text makes anything but a version, and a version is written in one way only', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\d+\.\d+$/)), (text) => {
        const parsed = parseVersion(text);
        if (parsed !== null) expect(formatVersion(parsed)).toBe(text);
      }),
    );
  });
});
