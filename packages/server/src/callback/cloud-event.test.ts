import { expect, test } from 'vitest';
import { definitionOf, recordOf } from '../testing/records.ts';
import { headerValue } from './cloud-event.ts';
import { callbackRequest } from './request.ts';

const at = { nowMs: 10_000, wallMs: 1_700_000_010_000 };

function headersOf(definition: ReturnType<typeof definitionOf>) {
  const record = recordOf({ versionMs: 5, versionTie: 6, sequence: 2 });
  const id = '00000019000000010000204080102040-1';
  const due = '2023-11-14T22:13:30.000Z';
  const pop = {
    record,
    definition,
    split: null,
    missed: 0,
    id,
    timeoutMs: 1000,
    at,
    due,
    trace: null,
  };
  return callbackRequest(pop, null).headers;
}

test('a callback in the form of CloudEvents has the attributes of one beside the usual headers', () => {
  expect(headersOf(definitionOf({ form: 'cloudevents', opaque: 'x' }))).toMatchObject({
    'ce-specversion': '1.0',
    'ce-id': '0000001900000001_5_6_3',
    'ce-source': '/carillon/default',
    'ce-type': 'carillon.pop',
    'ce-subject': '00000019000000010000204080102040-1',
    'ce-time': '2023-11-14T22:13:30.000Z',
    'content-type': 'application/octet-stream',
    'x-sequence-number': '3',
  });
});

test('a plain callback has none of them', () => {
  const names = Object.keys(headersOf(definitionOf()));
  expect(names.filter((name) => name.startsWith('ce-'))).toEqual([]);
});

test('an event has its own type and subject', () => {
  const headers = { 'ce-subject': 'http://shop.test' };
  const definition = definitionOf({ form: 'cloudevents', event: 'dead-letter', headers });
  expect(headersOf(definition)).toMatchObject({
    'ce-type': 'carillon.dead-letter',
    'ce-subject': 'http://shop.test',
  });
});

test.each([
  ['plain', 'http://a:1/b?c=d', 'http://a:1/b?c=d'],
  ['a blank, a quotation mark and a per cent sign', 'a "b" 5%', 'a%20%22b%22%205%25'],
  ['not ASCII', 'ü€', '%C3%BC%E2%82%AC'],
  ['a line end', 'a\r\nb', 'a%0D%0Ab'],
])('a value with %s is written as the binding says', (_, text, value) => {
  expect(headerValue(text)).toBe(value);
});
