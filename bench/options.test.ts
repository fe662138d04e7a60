import { expect, test } from 'vitest';
import { type Options, readOptions } from './options.ts';

function names(args: readonly string[]): string[] {
  const options = readOptions(args);
  return 'says' in options ? [] : options.parts.map(({ name }) => name);
}

test('without options everything but the lock ring, the stories and the longest parts runs, and the docs are rewritten', () => {
  const options = readOptions([]) as Options;
  expect(options.isWhole).toBe(true);
  expect(options.systems).toHaveLength(8);
  expect(names([])).toContain('growth');
  for (const name of ['ring', 'client-heap', 'two-billion', 'quota', 'quarters']) {
    expect(names([])).not.toContain(name);
  }
});

test('named parts run in their usual order, and the docs stay as they are', () => {
  expect(names(['--only', 'lateness,sets'])).toEqual(['sets', 'lateness']);
  expect((readOptions(['--only', 'ring']) as Options).isWhole).toBe(false);
});

test('named systems leave out the parts that compare nothing', () => {
  const options = readOptions(['--systems', 'carillon,bullmq']) as Options;
  expect(options.systems).toEqual(['carillon', 'bullmq']);
  expect(options.isWhole).toBe(false);
  expect(options.parts.every(({ isComparing }) => isComparing)).toBe(true);
});

test('a quick pass never reaches the docs', () => {
  expect(readOptions(['--quick'])).toMatchObject({ isQuick: true, isWhole: false });
});

test.each([
  [['--only', 'nothing'], 'There is no part nothing.'],
  [['--systems', 'cron'], 'There is no system cron.'],
  [['--fast'], "Unknown option '--fast'"],
  [['--seconds', 'ten'], '--seconds is a number of seconds, not ten.'],
])('%j is refused with the usage', (args, says) => {
  const refused = readOptions(args);
  expect(refused).toMatchObject({ isHelp: false, says: expect.stringContaining(says) });
  expect(refused).toMatchObject({ says: expect.stringContaining('Usage: npm run bench') });
});
