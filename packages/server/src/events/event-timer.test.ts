import { decodeDefinition } from '@carillon/core';
import { expect, test } from 'vitest';
import { merge } from '../timer/merge.ts';
import { afterPop } from '../timer/schedule.ts';
import { type Event, eventNumber, eventRecord } from './event-timer.ts';

const event: Event = {
  kind: 'destination-failing',
  namespace: 'default',
  subject: 'http://shop.test',
  data: { failure: '5xx' },
  detail: '',
  version: { versionMs: 1_700_000_400_000, versionTie: 0 },
};
const to = { uri: 'http://events.test/', form: 'plain' } as const;

function recordAt(nowMs: number, changes: Partial<Event> = {}) {
  const told = { ...event, ...changes };
  const at = { nowMs, wallMs: 1_700_000_500_000 + nowMs };
  return eventRecord(told, to, eventNumber(told), { at, factor: 2 });
}

test('members that tell of the same thing make one timer, also with different details', () => {
  const first = { ...recordAt(1000), replicas: ['a', 'b'] };
  const second = { ...recordAt(9000, { data: { failure: 'refused' } }), replicas: ['a', 'b'] };
  expect([second.hi, second.lo]).toEqual([first.hi, first.lo]);
  expect(merge(first, second, ['a', 'b'])).toBe('keep');
});

test('the side of a net-split that told of it later does not revive an event that was delivered', () => {
  const delivered = afterPop(recordAt(1000), decodeDefinition(recordAt(1000).body), 0, {
    nowMs: 1500,
    wallMs: 1_700_000_501_500,
  });
  expect(merge(delivered, recordAt(9000), [])).toBe('keep');
});

test.each([
  ['kind', { kind: 'destination-well' }],
  ['namespace', { namespace: 'other' }],
  ['subject', { subject: 'http://other.test' }],
  ['detail', { detail: '5xx' }],
  ['period', { version: { versionMs: 1_700_001_000_000, versionTie: 0 } }],
] as const)('events of another %s are other timers', (_, changes) => {
  expect(eventNumber({ ...event, ...changes })).not.toEqual(eventNumber(event));
});

test('an event is due now and says its kind in a header and in its body', () => {
  const record = recordAt(1000);
  expect(record).toMatchObject({ dueMs: 1000, attempt: 0, sequence: 0, namespace: 'default' });
  const definition = decodeDefinition(record.body);
  expect(definition).toMatchObject({ event: 'destination-failing', uri: to.uri, onFailure: null });
  expect(definition.headers).toEqual({
    'content-type': 'application/json',
    'x-timer-event': 'destination-failing',
  });
  expect(JSON.parse(definition.opaque)).toEqual({
    type: 'destination-failing',
    timestamp: '2023-11-14T22:21:41.000Z',
    namespace: 'default',
    subject: 'http://shop.test',
    data: { failure: '5xx' },
  });
});
