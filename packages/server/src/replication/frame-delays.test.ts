import { expect, test } from 'vitest';
import { FrameDelays } from './frame-delays.ts';

/** Frames from `a`; the clocks of `a` and of the reader show different times. */
function way() {
  const delays = new FrameDelays();
  const apart = { nowMs: -5000, wallMs: 200 };
  /** A frame that was on its way for so long, read at this time of the reader's monotonic clock. */
  const comes = (readMs: number, wayMs: number): number => {
    const sentMs = readMs - wayMs;
    const written = {
      nowMs: sentMs + apart.nowMs,
      wallMs: Math.floor(1e12 + sentMs + apart.wallMs),
    };
    return delays.of('a', written, { nowMs: readMs, wallMs: Math.floor(1e12 + readMs) });
  };
  return { delays, apart, comes };
}

test('a frame is late by as much as it took longer than the quickest, less what clocks drift', () => {
  const { comes } = way();
  expect(comes(10_000, 3)).toBe(0);
  expect(comes(10_200, 1)).toBe(0);
  expect(comes(10_400, 41)).toBeCloseTo(39, 5);
  expect(comes(10_500, 2)).toBe(0);
});

test('the first frame, and the first after a silence, has nothing to compare with', () => {
  const { comes } = way();
  expect(comes(10_000, 100)).toBe(0);
  expect(comes(10_100, 300)).toBeCloseTo(199, 5);
  expect(comes(13_000, 300)).toBe(0);
});

test('the quickest frame counts for one to two seconds', () => {
  const { comes } = way();
  comes(10_000, 1);
  expect(comes(11_900, 51)).toBeCloseTo(49, 5);
  expect(comes(12_950, 51)).toBe(0);
});

test('it is never more than the time on the way, whatever each of the clocks does', () => {
  const { comes, apart } = way();
  comes(10_000, 1);
  // Its machine was suspended for 300 ms, and its monotonic clock did not go on.
  apart.nowMs -= 300;
  expect(comes(10_100, 1)).toBe(0);
  expect(comes(10_200, 41)).toBeCloseTo(39, -0.5);
  // Its wall clock is set back.
  apart.wallMs -= 400;
  comes(12_500, 1);
  apart.wallMs -= 400;
  expect(comes(12_600, 1)).toBe(0);
  expect(comes(12_700, 41)).toBeCloseTo(39, 5);
});

test('a process that starts anew has a clock that begins anew', () => {
  const { comes, apart } = way();
  comes(10_000, 1);
  apart.nowMs = -9_900;
  expect(comes(10_100, 1)).toBe(0);
});

test('more than a second is not believed', () => {
  const { comes } = way();
  comes(10_000, 1);
  expect(comes(11_500, 1000)).toBeCloseTo(998, 5);
  expect(comes(11_600, 1100)).toBe(0);
});

test('clocks that are not numbers delay nothing', () => {
  const { delays } = way();
  const read = { nowMs: 10_000, wallMs: 1e12 };
  delays.of('a', { nowMs: 5000, wallMs: 1e12 }, read);
  for (const odd of [Number.NaN, Infinity, -Infinity]) {
    expect(delays.of('a', { nowMs: odd, wallMs: odd }, read)).toBe(0);
  }
});

test('names that frames make up take a bounded memory', () => {
  const { delays, comes } = way();
  comes(10_000, 1);
  const written = { nowMs: 20_000, wallMs: 1e12 };
  const read = { nowMs: 10_100, wallMs: 1e12 };
  for (let i = 0; i < 998; i++) delays.of(`made-up-${i}`, written, read);
  expect(comes(10_200, 41)).toBeCloseTo(39, 5);
  delays.of('made-up-998', written, read);
  delays.of('made-up-999', written, read);
  expect(comes(10_300, 41)).toBe(0);
});

test('each member has its own, until it leaves the view', () => {
  const { delays, comes } = way();
  comes(10_000, 1);
  const other = { nowMs: 20_000, wallMs: 1e12 };
  expect(delays.of('b', other, { nowMs: 10_100, wallMs: 1e12 })).toBe(0);
  expect(comes(10_200, 41)).toBeCloseTo(39, 5);
  delays.retain(new Set(['b']));
  expect(comes(10_300, 41)).toBe(0);
});
