import { expect, test } from 'vitest';
import { logLines } from './log-lines.ts';
import { parse } from './source.ts';

const says = (text: string, path = 'packages/server/src/a.ts'): string[] =>
  logLines(parse(path, text)).map((finding) => finding.says);

test.each([
  ["log.warn('A peer was refused', { event: 'peer-refused' });", 'is no sentence'],
  ["this.options.log.error('ring: not written.', { event: 'a' });", 'is no sentence'],
  ["log[level]('Connected to a peer', { event: 'peer-connected' });", 'is no sentence'],
  ["log.info('The member serves.', { event: 'memberServes' });", 'small letters and dashes'],
])('%s is refused', (text, why) => {
  expect(says(text)).toEqual([expect.stringContaining(why)]);
});

test.each([
  ["log.info('The member serves.', { event: 'serving', listen });"],
  ['log.warn(sentence, { event: name, ...figures });'],
  ["console.error('no log');"],
  ["logs.info('another thing');"],
])('%s passes', (text) => {
  expect(says(text)).toEqual([]);
});

test('tests and their doubles may log as they like', () => {
  const text = "log.warn('x', { event: 'X' });";
  expect(says(text, 'packages/server/src/a.test.ts')).toEqual([]);
  expect(says(text, 'packages/server/src/testing/a.ts')).toEqual([]);
  expect(says(text)).toHaveLength(2);
});
