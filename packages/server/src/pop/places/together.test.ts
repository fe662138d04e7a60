import type { CallbackResult } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { TogetherReceivers } from './together.ts';

const receiver = { uri: 'http://r.test/a', namespace: 'default' };
const answer = (countMax?: number): CallbackResult => ({
  kind: 'answer',
  status: 200,
  retryAfterMs: null,
  ...(countMax !== undefined && { together: { countMax, failed: null } }),
});
const cut: CallbackResult = { kind: 'no-answer', reason: 'cut', detail: '' };

test('the newest answer counts, for this uri and namespace alone; no answer says nothing', () => {
  const receivers = new TogetherReceivers(new VirtualClock());
  receivers.heard(receiver, answer());
  expect(receivers.countMax(receiver)).toBe(1);
  receivers.heard(receiver, answer(500));
  receivers.heard(receiver, cut);
  expect(receivers.countMax(receiver)).toBe(500);
  expect(receivers.countMax({ ...receiver, uri: 'http://r.test/b' })).toBe(1);
  expect(receivers.countMax({ ...receiver, namespace: 'other' })).toBe(1);
  receivers.heard(receiver, answer(20));
  expect(receivers.countMax(receiver)).toBe(20);
  receivers.heard(receiver, answer());
  expect(receivers.countMax(receiver)).toBe(1);
});

test('after a request that was not understood pops come one by one for a minute, also if the receiver asks for several', async () => {
  const clock = new VirtualClock();
  const receivers = new TogetherReceivers(clock);
  receivers.heard(receiver, answer(500));
  receivers.notUnderstood(receiver);
  receivers.heard(receiver, answer(500));
  receivers.heard(receiver, answer());
  receivers.heard(receiver, answer(500));
  expect(receivers.countMax(receiver)).toBe(1);
  await clock.advance(60_000);
  expect(receivers.countMax(receiver)).toBe(500);
});

test('so many receivers are remembered that memory stays small, the ones heard of last', () => {
  const receivers = new TogetherReceivers(new VirtualClock());
  const numbered = (i: number) => ({ ...receiver, uri: `http://r.test/${i}` });
  for (let i = 0; i < 5000; i++) receivers.heard(numbered(i), answer(500));
  expect([0, 903, 904, 4999].map((i) => receivers.countMax(numbered(i)))).toEqual([1, 1, 500, 500]);
});

test('a namespace with very many receivers forgets its own, and none of others', () => {
  const receivers = new TogetherReceivers(new VirtualClock());
  const says = {
    kind: 'answer',
    status: 200,
    retryAfterMs: null,
    together: { countMax: 9 },
  } as never;
  receivers.heard({ namespace: 'good', uri: 'http://good.test/' }, says);
  for (let i = 0; i < 5000; i++) {
    receivers.heard({ namespace: 'bad', uri: `http://bad.test/${i}` }, says);
  }
  const counts = ['good.test/', 'bad.test/0', 'bad.test/904', 'bad.test/905', 'bad.test/4999'].map(
    (place) => receivers.countMax({ namespace: place.split('.')[0] ?? '', uri: `http://${place}` }),
  );
  expect(counts).toEqual([9, 1, 1, 9, 9]);
});
