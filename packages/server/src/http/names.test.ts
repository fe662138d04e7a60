import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commonNames, headerName } from './names.ts';

const nameOf = (text: string): string =>
  headerName(Buffer.from(`GET\r\n${text}: x`), 5, 5 + text.length);

test('common names are found in any case, and not made anew', () => {
  for (const name of commonNames) {
    expect(nameOf(name)).toBe(name);
    expect(nameOf(name.toUpperCase())).toBe(name);
  }
});

test('any other name is itself in lower case', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,20}$/), (text) => {
      expect(nameOf(text)).toBe(text.toLowerCase());
    }),
  );
  // As common ones, but for one letter.
  for (const text of ['hos', 'hoss', 'aost', 'Content-Lungth', 'x', 'xy'])
    expect(nameOf(text)).toBe(text.toLowerCase());
});
