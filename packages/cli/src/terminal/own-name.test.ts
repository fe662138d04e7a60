import { expect, test } from 'vitest';
import { asCalledHere } from './own-name.ts';

const names = new Set(['set', 'token', 'dead-letters', 'COMMAND', '--help']);

test.each([
  ['Usage: carillon set WHEN URL', 'Usage: npx carillon set WHEN URL'],
  ['Make one with "carillon token create".', 'Make one with "npx carillon token create".'],
  [
    'carillon --help lists them, carillon COMMAND --help',
    'npx carillon --help lists them, npx carillon COMMAND --help',
  ],
  ['carillon dead-letters; more', 'npx carillon dead-letters; more'],
  ['npx carillon set 5s', 'npx carillon set 5s'],
  ['carillon set: --json is no time.', 'carillon set: --json is no time.'],
  [
    'carillon rings the right bell, in ./carillon data',
    'carillon rings the right bell, in ./carillon data',
  ],
])('%s reads in a clone: %s', (text, read) => {
  expect(asCalledHere(text, names, 'npx carillon')).toBe(read);
  expect(asCalledHere(text, names, 'carillon')).toBe(text);
});
