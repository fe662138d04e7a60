import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrayItems, shapeOf } from './batch-items.ts';
import { BatchJson } from './batch-json.ts';
import type { Steps } from './long-work.ts';

const limits = { batchItemCountMax: 1000, jsonDepthMax: 100, bodyBytesMax: 100_000 };
const utf8 = new TextEncoder();

function done<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

interface Read {
  readonly values: unknown[];
  /** Items that were compared with one before them, and not parsed. */
  readonly alikeCount: number;
}

/** The values of the items of an array, each checked against its own text. */
function read(text: string): Read {
  const body = utf8.encode(text);
  const items = done(arrayItems(body, limits));
  const json = new BatchJson({ body, items, isArray: true, depthMax: 100 });
  const values = items.map(({ from, to, shape }, index) => {
    const bytes = body.subarray(from, to);
    expect(shape).toEqual(shapeOf(bytes));
    // A value is lent until the next one is asked for.
    return structuredClone(json.at(index)) ?? null;
  });
  return { values, alikeCount: items.filter(({ form }) => form !== null).length };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const timer = (interval: unknown, opaque: string): object => {
  const http = { uri: 'http://a/', opaque };
  return { timing: { interval }, callback: { http }, tags: ['a', opaque] };
};

describe('items that differ in texts and numbers', () => {
  it('have their own values, and are not parsed', () => {
    const items = [
      timer(60, 'a'),
      timer(7.5, 'bc'),
      timer(60, 'a'),
      timer(0, ''),
      timer(-1e-9, '}'),
    ];
    expect(read(JSON.stringify(items))).toEqual({ values: items, alikeCount: 4 });
  });

  it('may be of a few forms in turn', () => {
    const items = Array.from({ length: 40 }, (_, i) =>
      i % 2 === 0 ? { cancel: `${i}` } : timer(i, `${i}`),
    );
    expect(read(JSON.stringify(items))).toEqual({ values: items, alikeCount: 38 });
  });

  it('have blanks in the same places', () => {
    const items = [timer(1, 'a'), timer(2, 'b'), timer(3, 'c'), timer(4, 'd')];
    const spaced = JSON.stringify(items).replaceAll(',', ', ').replaceAll(':', ': ');
    const { values, alikeCount } = read(spaced.replaceAll('http: //', 'http://'));
    expect([values, alikeCount]).toEqual([items, 2]);
  });

  it.each([
    ['an escape', '{"a":"x"}', String.raw`{"a":"\u0041"}`],
    ['a quote with an escape', '{"a":"x"}', String.raw`{"a":"x\",\"b"}`],
    ['a text beyond ASCII', '{"a":"x"}', '{"a":"ä"}'],
    ['a text in the place of a number', '{"a":1}', '{"a":"1"}'],
    ['a number in the place of a text', '{"a":"1"}', '{"a":1}'],
    ['another name', '{"a":1}', '{"b":1}'],
    ['one more member', '{"a":1}', '{"a":1,"b":1}'],
    ['no member', '{"a":1}', '{}'],
    ['a name of the same bytes as a value', '{"a":{"b":"c"}}', '{"a":{"c":"c"}}'],
  ])('%s is no such difference', (_, first, second) => {
    const { values, alikeCount } = read(`[${first},${second}]`);
    expect([values, alikeCount]).toEqual([[JSON.parse(first), JSON.parse(second)], 0]);
  });

  it.each([
    '{"a":1,"a":1}',
    '{"a":{"b":1},"a":{"c":1}}',
    '{"a":{"b":1},"a":1}',
    '{"__proto__":"x"}',
    '{"__proto__":{"toString":1}}',
    '{"1":"x","0":"x"}',
    '[1,{"a":"x"},[2]]',
    '"x"',
    '{"":1,"":{"":1}}',
  ])('are read as by themselves behind %s', (first) => {
    const second = first.replaceAll('1}', '22}').replaceAll('x', 'yy');
    const texts = [first, second, first, second];
    expect(read(`[${texts.join(',')}]`).values).toEqual(texts.map(jsonOf));
  });

  it('have the last value of a name that is there twice', () => {
    expect(read('[{"a":1,"a":1},{"a":2,"a":1},{"a":1,"a":3}]').values).toEqual([
      { a: 1 },
      { a: 1 },
      { a: 3 },
    ]);
  });

  it('that are no numbers are refused like others', () => {
    expect(() => read('[{"a":1},{"a":01}]')).toThrow('The body is not valid JSON');
    expect(() => read('[{"a":1},{"a":}]')).toThrow('The body is not valid JSON');
    expect(() => read('[{"a":1},{"a":1.}]')).toThrow('The body is not valid JSON');
    expect(() => read('[{"a":1 "b":1},{"a":2 "b":1}]')).toThrow('The body is not valid JSON');
  });

  it('have the values of a parser, whatever they are and however their bytes are changed', () => {
    const leaf = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
      fc.double({ noDefaultInfinity: true, noNaN: true }),
      fc.integer(),
      fc.constantFrom(true, null, '"', '\\', ',', '}', '{"a":1}'),
    );
    const name = fc.constantFrom('a', 'b', '__proto__', '0', 'length');
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.dictionary(name, tie('tree'), { maxKeys: 3 }),
        fc.array(tie('tree'), { maxLength: 3 }),
      ),
    }));
    const refilled = fc.tuple(fc.dictionary(name, tree, { minKeys: 1 }), fc.array(leaf));
    const slips = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...'0"1,:}{][ e.-\\x'.split(''))));
    fc.assert(
      fc.property(fc.array(refilled, { minLength: 1 }), slips, (pairs, changes) => {
        const texts = pairs.flatMap(([value, leaves]) => [
          JSON.stringify(value),
          JSON.stringify(value, (_, one: unknown) => refill(one, leaves)),
        ]);
        const changed = texts.join(',').split('');
        for (const [at, mark] of changes.slice(0, 2)) changed[at % changed.length] = mark;
        for (const text of [texts.join(','), changed.join('')]) {
          const expected = jsonOf(`[${text}]`);
          if (expected !== null) expect(read(`[${text}]`).values).toEqual(expected);
          else expect(() => read(`[${text}]`)).toThrow(/valid JSON|must be an array/);
        }
      }),
    );
  });
});

/** Puts another value in the place of a text or number. */
function refill(one: unknown, leaves: readonly unknown[]): unknown {
  if (typeof one !== 'string' && typeof one !== 'number') return one;
  return leaves[String(one).length % Math.max(1, leaves.length)] ?? one;
}
