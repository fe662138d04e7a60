import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parsePlainYaml } from './plain-yaml.ts';
import { parseYaml } from './yaml.ts';

/** Longer than the library is given. */
function long(text: string): string {
  return `${text}\n${'# a comment\n'.repeat(1000)}`;
}

const plain = [
  'a: 1\nb: two words # a comment\nc:\n  d: 127.0.0.1:7253\n  e: "x # y"\nf: \'g: h\'\n',
  'members:\n- name: a\n  weight: 1.5\n- name: b\n  labels: { zone: z1, rack: "r 2", empty: }\n',
  'members:\n  - { name: a, address: "127.0.0.1:7253", peer: 127.0.0.1 }\n  - b\n  -\n    c: [1, -2, +3, true, null, []]\n',
  '---\na:\n  - 1e3\n  - 10s\n  - 007\n  - 1.\n  - zürich\n  - http://a/b?c=d&e\nlast:\n',
  '# nothing but comments\n\n   # and spaces\n',
  'a:   # below\n   b:\n      - c\n   d: e\r\n',
];

test.each(plain)('%j is read like the library reads it', (text) => {
  expect(parsePlainYaml(text)).toEqual(parse(text));
  expect(parseYaml(long(text))).toEqual(parse(text));
});

test.each([
  ['a: &x 1\nb: *x\n', 'line 1'],
  ['a: |\n  text\n', 'line 1'],
  ['a: b\n  c\n', 'line 2'],
  ['a: "b\\n"\n', 'line 1'],
  ['a: b: c\n', 'line 1'],
  ['a: 1\na: 2\n', 'the key "a" stands twice'],
  ['a: [1\n', 'is missing'],
  ['a:\n\tb: 1\n', 'line 2'],
  ['a: 1\n---\nb: 2\n', 'line 2'],
  ['<<: a\n', 'line 1'],
  ['__proto__: a\n', 'line 1'],
  [`a: ${'['.repeat(40)}`, 'nested deeper'],
])('a long file with %j is refused, and the sentence says where', (text, why) => {
  expect(() => parseYaml(long(text))).toThrow(why);
});

test('a file in the plain forms means the same to the yaml library', () => {
  const pieces = [
    'a b 1 - : [ ] { } , # " \' true null 1.5 .5 0x1 ~ * & | --- é _ / @ % ! << ? = +1 -1 1e3'.split(
      ' ',
    ),
    [
      '- ',
      ': ',
      '\n',
      '\n  ',
      '\n    ',
      ' ',
      ', ',
      ' # ',
      '\t',
      '\r',
      'a: ',
      'b: 1\n',
      '- a: ',
      '? ',
    ],
  ].flat();
  const piece = fc.constantFrom(...pieces);
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (some) => {
      const text = some.join('');
      let value: unknown;
      try {
        value = parsePlainYaml(text);
      } catch {
        return;
      }
      expect(value).toEqual(parse(text, { logLevel: 'silent' }));
    }),
    { numRuns: 5000 },
  );
});

describe('a file', () => {
  test('of a thousand members is read by its plain forms, or as JSON', () => {
    const members = Array.from({ length: 1000 }, (_, i) => ({ name: `m${i}`, weight: i % 3 }));
    const text = members.map(({ name, weight }) => `  - { name: ${name}, weight: ${weight} }\n`);
    expect(parseYaml(`members:\n${text.join('')}`)).toEqual({ members });
    expect(parseYaml(JSON.stringify({ members }))).toEqual({ members });
  });

  test('that is too long is refused by its length', () => {
    expect(() => parseYaml(' '.repeat(600_000))).toThrow('It has 600000 characters');
  });

  test.each([
    ['lines', 'a\n'],
    ['empty lines', '\r\n'],
    ['keys', 'a: 1\n'],
    ['comments', '#\n'],
    ['values in a line', '[1],'],
  ])('of very many %s is refused before it is read', (_, unit) => {
    const text = unit.repeat(16_385);
    expect(() => parseYaml(text)).toThrow('It has more than 16384 lines and commas.');
    expect(() => parseYaml(`[${'1,'.repeat(16_385)}1]`)).toThrow('lines and commas');
    expect(() => parseYaml(text, { partCountMax: 1e6 })).not.toThrow('lines and commas');
  });

  test('of lists in lists without end is refused for its depth', () => {
    expect(() => parseYaml('- '.repeat(2000))).toThrow('It is nested too deep.');
  });

  test('may be longer where the caller says so, and in all forms of YAML up to the length that it gives', () => {
    const text = `a: |\n  text\nb: "x"${'\n# a comment'.repeat(1000)}`;
    expect(() => parseYaml(text)).toThrow('line 1');
    expect(parseYaml(text, { libraryLengthMax: 64 * 1024 })).toEqual({ a: 'text\n', b: 'x' });
    const spaced = `a: 1\n${' '.repeat(600_000)}`;
    expect(parseYaml(spaced, { lengthMax: 1 << 20 })).toEqual({ a: 1 });
  });

  test.each(['[', '{', '- [', '"['])(
    'of nothing but %j is refused for its open brackets',
    (unit) => {
      expect(() => parseYaml(unit.repeat(2000))).toThrow('More than 64 brackets are open.');
    },
  );

  test.each([
    '? ? a',
    '- ? a',
    'a: [? b]',
    '?\n  ?\n    a',
    '&a ? b',
    'a: {? b, c: d}',
    '!t ? a',
    '["a" ? b]',
    'a:\n\t? b',
  ])(
    'with a key that is marked, %j, is refused: the library reads such keys twice, and keys in keys ever more often',
    (text) => {
      expect(() => parseYaml(text)).toThrow('A key is marked by "? "');
    },
  );

  test('with a question mark in its texts is read', () => {
    const text = 'a: "is it?"\nb: what?\nc: http://x/?a=b\nd?: 1\ne: is it ? yes\nf: "is it ? no"';
    expect(parseYaml(text)).toEqual({
      a: 'is it?',
      b: 'what?',
      c: 'http://x/?a=b',
      'd?': 1,
      e: 'is it ? yes',
      f: 'is it ? no',
    });
  });

  test('with a fault is refused with its place', () => {
    expect(() => parseYaml('a: 1\nb: [1\n')).toThrow('at line 3, column 1');
  });
});
