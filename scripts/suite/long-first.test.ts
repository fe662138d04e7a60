import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { byLength, longFiles } from './long-first.ts';

test.each(longFiles)('%s is a test file', (file) => {
  expect(existsSync(file)).toBe(true);
});

test('long files come first in their group, the longest before the others, and groups stay in order', () => {
  const [longest = '', long = ''] = longFiles;
  const file = (moduleId: string, groupOrder: number) => ({
    moduleId,
    project: { config: { sequence: { groupOrder } } },
  });
  const given = [file('a', 1), file('b', 2), file(long, 2), file('c', 2), file(longest, 2)];
  const names = byLength(given).map(({ moduleId }) => moduleId);
  expect(names).toEqual(['a', longest, long, 'b', 'c']);
});
