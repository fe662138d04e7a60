import { expect, test } from 'vitest';
import { valueCountMax } from './batch-items.ts';
import { parseJson } from './json.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

test('as many values as are allowed are parsed, one more is refused before anything is parsed', () => {
  const list = (count: number): Uint8Array => bytesOf(`[${Array(count).fill('0').join()}]`);
  expect(parseJson(list(valueCountMax), 32)).toHaveLength(valueCountMax);
  expect(() => parseJson(list(valueCountMax + 1), 32)).toThrow('more than 10000 values');
});

test('commas in texts are no values', () => {
  const text = `\\"${','.repeat(2 * valueCountMax)}\\\\`;
  expect(parseJson(bytesOf(`["${text}"]`), 32)).toEqual([`"${','.repeat(2 * valueCountMax)}\\`]);
});
