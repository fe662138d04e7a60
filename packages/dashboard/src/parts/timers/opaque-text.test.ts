import { expect, test } from 'vitest';
import { beginning, opaqueText, shortLengthMax, shortLineCountMax } from './opaque-text.ts';

test.each([
  ['{"a":[1,2]}', '{\n  "a": [\n    1,\n    2\n  ]\n}'],
  [' [] ', '[]'],
  ['{"a":', '{"a":'],
  ['17', '17'],
  ['"text"', '"text"'],
  ['two\n  lines', 'two\n  lines'],
  ['', ''],
])('%j is shown as %j', (opaque, shown) => {
  expect(opaqueText(opaque)).toBe(shown);
});

test('numbers that JavaScript cannot hold are shown as they were sent', () => {
  const opaque = '{"id": 12345678901234567890, "price": 1.10}';
  expect(opaqueText(opaque)).toBe(opaque);
});

test('only long texts have a beginning', () => {
  expect(beginning('short')).toBeNull();
  expect(beginning('x'.repeat(shortLengthMax))).toBeNull();
  expect(beginning('x'.repeat(shortLengthMax + 1))).toHaveLength(shortLengthMax + 2);
  const lines = Array.from({ length: shortLineCountMax + 1 }, (_, i) => `line ${i}`).join('\n');
  expect(beginning(lines)?.split('\n')).toHaveLength(shortLineCountMax);
});
