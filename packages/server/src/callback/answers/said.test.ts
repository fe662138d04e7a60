import { expect, test } from 'vitest';
import { saidText } from './said.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test.each([
  ['plain words', 'database is down', 'database is down'],
  ['lines and tabs become one line', ' {\r\n\t"error": "no"\n}\n', '{ "error": "no" }'],
  ['escape sequences of terminals lose their control character', 'a\u001b[31mred', 'a [31mred'],
  ['marks that turn the direction of text are gone', 'abc\u202edef\u2066', 'abc def'],
  ['letters of any script stay', 'Prüfung – 失敗', 'Prüfung – 失敗'],
  ['nothing but white space is nothing', ' \n ', ''],
])('%s', (_, given, expected) => {
  expect(saidText(bytes(given))).toBe(expected);
});

test('a character that was cut in two is left out', () => {
  expect(saidText(bytes('zu früh').subarray(0, 6))).toBe('zu fr');
});

test.each([
  ['compressed', [0x1f, 0x8b, 0x08, 0x00, 0xff]],
  ['latin1', [0x66, 0xfc, 0x72]],
])('bytes that are no UTF-8 (%s) are not shown', (_, given) => {
  expect(saidText(Uint8Array.from(given))).toBe('(bytes that are no text)');
});
