import { expect, test } from 'vitest';
import { withPairs } from './write-pairs.ts';

const empty = [
  '# Cost',
  '',
  '<!-- pairs: written by npm run bench:pairs -- --b-args=ARGS --write -->',
  '',
  'Nothing yet.',
  '',
  '<!-- end of pairs -->',
  '',
].join('\n');
const set = { a: 15.21, b: 15.02, low: 0.99, middle: 1.012, high: 1.03 };
const pop = { a: 60, b: 50, low: 1.1, middle: 1.2, high: 1.3 };

test('arguments have one row each, which a later run replaces', () => {
  const one = withPairs(empty, '--history-bytes-max 0', { count: 9, set, pop });
  const two = withPairs(one, '--search-indexes off', { count: 9, set, pop: set });
  const three = withPairs(two, '--history-bytes-max 0', { count: 5, set: pop, pop });
  expect(three.split('\n').filter((line) => line.startsWith('|'))).toEqual([
    '| option | a set | a pop | pairs |',
    '|---|---:|---:|---:|',
    '| `--history-bytes-max 0` | 60.0 after 50.0 µs, 20.0 % (10.0 % to 30.0 %) | 60.0 after 50.0 µs, 20.0 % (10.0 % to 30.0 %) | 5 |',
    '| `--search-indexes off` | 15.2 after 15.0 µs, 1.2 % (-1.0 % to 3.0 %) | 15.2 after 15.0 µs, 1.2 % (-1.0 % to 3.0 %) | 9 |',
  ]);
  expect(three).not.toContain('Nothing yet.');
});

test('two equal members have a row of their own, which other rows leave as it is', () => {
  const one = withPairs(empty, '', { count: 8, set, pop: set });
  const two = withPairs(one, '--search-indexes off', { count: 9, set, pop });
  const three = withPairs(two, '', { count: 10, set, pop: set });
  expect(
    three
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .slice(1),
  ).toEqual([
    '| none: two equal members | 15.2 after 15.0 µs, 1.2 % (-1.0 % to 3.0 %) | 15.2 after 15.0 µs, 1.2 % (-1.0 % to 3.0 %) | 10 |',
    '| `--search-indexes off` | 15.2 after 15.0 µs, 1.2 % (-1.0 % to 3.0 %) | 60.0 after 50.0 µs, 20.0 % (10.0 % to 30.0 %) | 9 |',
  ]);
});
