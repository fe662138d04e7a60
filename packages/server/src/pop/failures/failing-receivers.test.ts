import { VirtualClock } from '@carillon/core/testing';
import { beforeEach, expect, test } from 'vitest';
import { type Failure, FailingReceivers } from './failing-receivers.ts';

let clock: VirtualClock;
let lines: object[];
let failing: FailingReceivers;

beforeEach(() => {
  clock = new VirtualClock();
  lines = [];
  const quiet = (): void => undefined;
  const warn = (_: string, fields?: object): void => void lines.push(fields ?? {});
  failing = new FailingReceivers(clock, { debug: quiet, info: quiet, warn, error: quiet });
});

const failure = (origin: string, more: Partial<Failure> = {}): Failure => ({
  namespace: 'default',
  split: { origin, path: '/secret?token=1' },
  failure: '5xx',
  detail: 'no database',
  isEvent: false,
  ...more,
});

test('the first failure of a receiver is told at once, without the path of its uri', () => {
  failing.note(failure('http://a'));
  expect(lines).toEqual([
    {
      event: 'receiver-failing',
      receiver: 'http://a',
      namespace: 'default',
      failure: '5xx',
      count: 1,
      detail: 'no database',
    },
  ]);
});

test('many failures within a minute are one line, and the next line counts them', async () => {
  for (let i = 0; i < 1000; i++) failing.note(failure('http://a'));
  expect(lines).toHaveLength(1);
  await clock.advance(60_000);
  failing.note(failure('http://a'));
  expect(lines.slice(1)).toMatchObject([{ count: 1000 }]);
});

test('each receiver of each namespace has its own lines', () => {
  failing.note(failure('http://a'));
  failing.note(failure('http://b'));
  failing.note(failure('http://a', { namespace: 'other' }));
  expect(lines).toHaveLength(3);
});

test('a receiver that says nothing has no detail', () => {
  failing.note(failure('http://a', { detail: '' }));
  expect(lines[0]).not.toHaveProperty('detail');
});

test('however many receivers fail, a thousand are remembered', () => {
  for (let i = 0; i < 1001; i++) failing.note(failure(`http://${i}`));
  failing.note(failure('http://0'));
  failing.note(failure('http://1000'));
  expect(lines).toHaveLength(1002);
});

test('failures in a row are counted until a success, and events count for nothing', async () => {
  failing.note(failure('http://a'));
  await clock.advance(1000);
  failing.note(failure('http://a', { failure: 'refused' }));
  failing.note(failure('http://b', { isEvent: true }));
  const run = { receiver: 'http://a', failure: 'refused', count: 2, sinceMs: clock.now() - 1000 };
  expect(failing.failing()).toMatchObject([run]);
  failing.succeeded(failure('http://a'));
  expect(failing.failing()).toEqual([]);
  expect(failing.takeWell()).toMatchObject([{ receiver: 'http://a' }]);
  expect(failing.takeWell()).toEqual([]);
});

test('a receiver that is called no more is forgotten after a day', async () => {
  failing.note(failure('http://a'));
  await clock.advance(86_400_001);
  expect(failing.failing()).toEqual([]);
});
