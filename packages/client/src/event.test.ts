import { expect, test } from 'vitest';
import { eventOf, type TimerEvent } from './event.ts';
import type { Pop } from './pop.ts';
import { receiver } from './receiver.ts';

const body = {
  type: 'dead-letter',
  timestamp: '2026-01-01T00:00:00.000Z',
  namespace: 'default',
  subject: 'http://shop.test',
  data: { failure: '5xx' },
};
const event: TimerEvent = { ...body, timestamp: new Date(body.timestamp) };

function callback(text: string, headers: Record<string, string> = {}): Request {
  return new Request('http://receiver.test/', {
    method: 'POST',
    body: text,
    headers: { 'x-timer-id': '0000000000000001-1', 'x-sequence-number': '1', ...headers },
  });
}

test('an event goes to onEvent, a pop to its handler, and each is handled once', async () => {
  const events: TimerEvent[] = [];
  const pops: Pop[] = [];
  const receive = receiver((pop) => void pops.push(pop), {
    onEvent: (one) => void events.push(one),
  });
  const marked = { 'x-timer-event': 'dead-letter', 'x-timer-version': '1.0' };
  for (let i = 0; i < 2; i++)
    expect((await receive(callback(JSON.stringify(body), marked))).status).toBe(200);
  await receive(callback('ding', { 'x-timer-version': '2.0' }));
  expect(events).toEqual([event]);
  expect(pops.map(({ opaque }) => opaque)).toEqual(['ding']);
});

test('without onEvent an event is a pop like any other, and eventOf reads it', async () => {
  const seen: (TimerEvent | null)[] = [];
  const receive = receiver((pop) => void seen.push(eventOf(pop)));
  await receive(callback(JSON.stringify(body), { 'x-timer-event': 'dead-letter' }));
  expect(seen).toEqual([event]);
});

test('a body that only looks like an event is none, and neither is one that is no JSON', async () => {
  const seen: (TimerEvent | null)[] = [];
  const receive = receiver((pop) => void seen.push(eventOf(pop)));
  await receive(callback(JSON.stringify(body), { 'x-timer-version': '1.0' }));
  await receive(callback('{', { 'x-timer-version': '2.0', 'x-timer-event': 'dead-letter' }));
  expect(seen).toEqual([null, null]);
});
