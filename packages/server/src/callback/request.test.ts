import { expect, it } from 'vitest';
import { definitionOf, letterOrigin as origin, recordOf } from '../testing/records.ts';
import { callbackRequest, DueTexts } from './request.ts';
import { Signer } from './sign.ts';

const at = { nowMs: 10_000, wallMs: 1_700_000_010_000 };

it('due times are told on the wall clock, and a dead letter has the due time of its pop', () => {
  const texts = new DueTexts();
  const first = recordOf({ dueMs: 9000 });
  const second = recordOf({ dueMs: 9500 });
  const letter = definitionOf({ origin });
  const told = [first, first, second, first].map((record) => texts.of(record, definitionOf(), at));
  expect(told).toEqual([
    '2023-11-14T22:13:29.000Z',
    '2023-11-14T22:13:29.000Z',
    '2023-11-14T22:13:29.500Z',
    '2023-11-14T22:13:29.000Z',
  ]);
  expect(texts.of(first, letter, at)).toBe('1970-01-02T00:00:00.000Z');
});

it('a version that was stamped some milliseconds ahead makes no callback seem early', () => {
  const [startMs, dueMs] = [9000, 10_000];
  const told = [0, 4].map((aheadMs) => {
    const versionMs = 1_700_000_009_000 + aheadMs;
    return new DueTexts().of(recordOf({ startMs, dueMs, versionMs }), definitionOf(), at);
  });
  expect(told).toEqual(['2023-11-14T22:13:30.000Z', '2023-11-14T22:13:30.000Z']);
});

it('headers of the client replace the ones for any pop, and never the ones that name this pop', () => {
  const own = { 'content-type': 'text/plain', 'x-timer-id': 'forged', traceparent: 'own' };
  const headers = JSON.parse('{"__proto__":"kept"}') as Record<string, string>;
  const definition = definitionOf({ opaque: 'body', headers: Object.assign(headers, own) });
  const record = recordOf({ versionMs: 1, versionTie: 2 });
  const trace = { own: 'of the set', set: 'the set' };
  const pop = {
    record,
    definition,
    split: null,
    missed: 3,
    id: 'id',
    timeoutMs: 1,
    at,
    due: 'due',
  };
  const request = callbackRequest({ ...pop, trace }, new Signer([]));
  expect(Object.entries(request.headers)).toEqual([
    ['content-type', 'text/plain'],
    ['traceparent', 'own'],
    ['__proto__', 'kept'],
    ['x-timer-id', 'id'],
    ['x-sequence-number', '4'],
    ['x-timer-due', 'due'],
    ['x-timer-version', expect.any(String)],
    ['x-timer-attempt', '1'],
    ['x-timer-missed', '3'],
    ['x-timer-trace', 'the set'],
    ['webhook-id', expect.any(String)],
    ['webhook-timestamp', '1700000010'],
    ['webhook-signature', ''],
  ]);
  const plain = callbackRequest({ ...pop, definition: definitionOf(), trace: null }, null);
  expect(plain.headers).not.toHaveProperty('traceparent');
  expect(plain.headers).not.toHaveProperty('content-type');
});
