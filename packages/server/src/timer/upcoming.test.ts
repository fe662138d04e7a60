import type { Ending, Timing } from '@carillon/core';
import { expect, test } from 'vitest';
import { upcoming } from './upcoming.ts';

const wallMs = Date.UTC(2026, 0, 31, 9);
const none: Ending = { repeatForMs: null, untilMs: null, count: null, forever: false };
const shown = (timing: Timing, count = 3) => {
  const { dueMs, more } = upcoming(timing, wallMs, count);
  return [...dueMs.map((ms) => new Date(ms).toISOString()), more];
};

test('a timer that pops once has one pop, and no more follow', () => {
  expect(shown({ kind: 'interval', intervalMs: 2000, ending: none })).toEqual([
    '2026-01-31T09:00:02.000Z',
    false,
  ]);
  expect(shown({ kind: 'at', atMs: wallMs + 5 })).toEqual(['2026-01-31T09:00:00.005Z', false]);
});

test('an instant in the past pops now', () => {
  expect(shown({ kind: 'at', atMs: wallMs - 5 })).toEqual(['2026-01-31T09:00:00.000Z', false]);
});

test('pops of an interval are an interval apart and stop where the timer ends', () => {
  const twice = { ...none, count: 2 };
  expect(shown({ kind: 'interval', intervalMs: 1000, ending: twice })).toEqual([
    '2026-01-31T09:00:01.000Z',
    '2026-01-31T09:00:02.000Z',
    false,
  ]);
  expect(
    shown({ kind: 'interval', intervalMs: 1000, ending: { ...none, forever: true } }, 1),
  ).toEqual(['2026-01-31T09:00:01.000Z', true]);
});

test('a cron pattern keeps its local time over the change of the clocks', () => {
  const spring = Date.UTC(2026, 2, 28, 12);
  const timing: Timing = {
    kind: 'cron',
    cron: '0 9 * * *',
    timezone: 'Europe/Berlin',
    ending: { ...none, forever: true },
  };
  const { dueMs, more } = upcoming(timing, spring, 2);
  expect(dueMs.map((ms) => new Date(ms).toISOString())).toEqual([
    '2026-03-29T07:00:00.000Z',
    '2026-03-30T07:00:00.000Z',
  ]);
  expect(more).toBe(true);
});

test('a cron pattern stops with its count and its until', () => {
  const timing = (ending: Ending): Timing => ({
    kind: 'cron',
    cron: '0 * * * *',
    timezone: null,
    ending,
  });
  expect(shown(timing({ ...none, count: 1 }))).toEqual(['2026-01-31T10:00:00.000Z', false]);
  expect(shown(timing({ ...none, untilMs: Date.UTC(2026, 0, 31, 11, 30) }))).toEqual([
    '2026-01-31T10:00:00.000Z',
    '2026-01-31T11:00:00.000Z',
    false,
  ]);
});
