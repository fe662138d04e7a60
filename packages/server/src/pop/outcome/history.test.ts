import { expect, test } from 'vitest';
import { recordOf } from '../../testing/records.ts';
import { noText } from '../failures/recent-texts.ts';
import { type BareAttempt, History } from './history.ts';

const attempt = (sequence: number): BareAttempt => ({
  sequence,
  attempt: 1,
  atMs: 1000 * sequence,
  latenessMs: 1,
  tookMs: 2,
  outcome: 200,
  detailAt: noText,
});

test('of each timer the newest attempts stay, oldest first', () => {
  const history = new History({ attemptCountMax: 3, timerCountMax: 10 });
  const record = recordOf({ hi: 1, lo: 2, namespace: 'n' });
  for (let i = 1; i <= 5; i++) history.add(record, attempt(i), '');
  history.add(recordOf({ hi: 2, lo: 1, namespace: 'n' }), attempt(9), '');
  expect(history.of('n', 1, 2).map(({ sequence }) => sequence)).toEqual([3, 4, 5]);
  expect(history.of('n', 2, 1)).toMatchObject([{ sequence: 9, detail: '' }]);
  expect(history.of('n', 3, 3)).toEqual([]);
});

test('when there are too many timers, one that was not tried again is forgotten', () => {
  const history = new History({ attemptCountMax: 3, timerCountMax: 2 });
  const record = (lo: number) => recordOf({ hi: 0, lo, namespace: 'n' });
  history.add(record(1), attempt(1), '');
  history.add(record(2), attempt(1), '');
  history.add(record(1), attempt(2), '');
  history.add(record(3), attempt(1), '');
  expect(history['timers'].size).toBe(2);
  expect(history.of('n', 0, 2)).toEqual([]);
  expect(history.of('n', 0, 1)).toHaveLength(2);
});

test('however many come, no more are remembered than allowed, and the newest always is', () => {
  const history = new History({ attemptCountMax: 2, timerCountMax: 50 });
  for (let i = 0; i < 1000; i++) {
    // Every third is one of the same ten: they are tried again and again.
    const record = recordOf({ hi: i % 3, lo: i % 3 === 0 ? i % 10 : i, namespace: `n${i % 2}` });
    history.add(record, attempt(i), '');
    expect(history.of(record.namespace, record.hi, record.lo).at(-1)?.sequence).toBe(i);
    expect(history['timers'].size).toBeLessThanOrEqual(50);
  }
});

test('timers with neighbouring numbers are told apart', () => {
  const history = new History({ attemptCountMax: 1, timerCountMax: 4000 });
  for (let i = 0; i < 4000; i++)
    history.add(recordOf({ hi: i >> 10, lo: i & 1023 }), attempt(i), '');
  const known = Array.from({ length: 4000 }, (_, i) => history.of('default', i >> 10, i & 1023)[0]);
  expect(known.map((one) => one?.sequence)).toEqual(Array.from({ length: 4000 }, (_, i) => i));
});

test('a timer of another namespace has no attempts to show', () => {
  const history = new History({ attemptCountMax: 3, timerCountMax: 2 });
  history.add(recordOf({ hi: 0, lo: 1, namespace: 'theirs' }), attempt(1), '');
  expect(history.of('mine', 0, 1)).toEqual([]);
});

test('with a limit of 0 nothing is remembered', () => {
  const history = new History({ attemptCountMax: 0, timerCountMax: 2 });
  history.add(recordOf({ hi: 0, lo: 1 }), attempt(1), '');
  expect(history['timers'].size).toBe(0);
});

test('an attempt that failed is remembered with its detail', () => {
  const history = new History({ attemptCountMax: 3, timerCountMax: 10 });
  const record = recordOf({ hi: 1, lo: 2, namespace: 'n' });
  history.add(record, attempt(1), 'database is down');
  history.add(record, attempt(2), '');
  expect(history.of('n', 1, 2).map(({ detail }) => detail)).toEqual(['database is down', '']);
});
