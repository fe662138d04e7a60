import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MalformedError } from './bytes.ts';
import {
  type Definition,
  decodeDefinition,
  encodeDefinition,
  isInterval,
  isKeyed,
  traceOf,
  withoutTrace,
} from './definition.ts';
import { DefinitionTexts } from './definition-texts.ts';
import { definitionOf } from './testing/definitions.ts';

const text = fc.string({ unit: 'binary' });
const ms = fc.double({ noNaN: true, noDefaultInfinity: true });
const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const ending = fc.record({
  repeatForMs: fc.option(ms),
  untilMs: fc.option(ms),
  count: fc.option(fc.nat()),
  forever: fc.boolean(),
});
const timing = fc.oneof(
  fc.record({ kind: fc.constant('interval' as const), intervalMs: ms, ending }),
  fc.record({ kind: fc.constant('at' as const), atMs: ms }),
  fc.record({ kind: fc.constant('cron' as const), cron: text, timezone: fc.option(text), ending }),
);
const retry = fc.record({
  limitMs: ms,
  baseMs: ms,
  waitMsMax: ms,
  attemptCountMax: fc.option(fc.integer({ min: 1 })),
});
const origin = fc.record({
  id: text,
  versionMs: ms,
  versionTie: u32,
  sequence: u32,
  dueMs: ms,
  missed: u32,
  attempts: u32,
  reason: text,
  gaveUpMs: ms,
});
const headers = fc
  .uniqueArray(fc.tuple(fc.oneof(text, fc.constantFrom('__proto__', 'constructor')), text), {
    selector: ([name]) => name,
  })
  .map((pairs) => Object.fromEntries(pairs));
const definition: fc.Arbitrary<Definition> = fc.record({
  timing,
  uri: text,
  opaque: text,
  method: fc.oneof(text, fc.constant('POST')),
  headers,
  timeoutMs: fc.option(ms),
  retry: fc.option(retry),
  tags: fc.array(text),
  tagInfo: fc.array(fc.record({ type: text, count: ms })),
  batch: fc.boolean(),
  idempotent: fc.boolean(),
  origin: fc.option(origin),
  onFailure: fc.option(text),
  event: fc.option(text),
  form: fc.constantFrom('plain', 'cloudevents'),
  trace: fc.constantFrom(null, '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'),
});

const plain = definitionOf({ uri: 'http://a.example/' });

describe('definitions as bytes', () => {
  it('come back as they were, for any values of the fields', () => {
    fc.assert(
      fc.property(definition, (one) => {
        const back = decodeDefinition(encodeDefinition(one));
        expect(back).toEqual(one);
        expect(Object.entries(back.headers)).toEqual(Object.entries(one.headers));
      }),
    );
  });

  it.each(['\ufeffwith a mark in front', '\0', 'line\r\nend', '😀', ''])(
    'the opaque %j comes back byte for byte',
    (opaque) => {
      expect(decodeDefinition(encodeDefinition({ ...plain, opaque })).opaque).toBe(opaque);
    },
  );

  it('a header called __proto__ is a header', () => {
    const strange = Object.fromEntries([['__proto__', 'x']]);
    const back = decodeDefinition(encodeDefinition({ ...plain, headers: strange }));
    expect(Object.keys(back.headers)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(back.headers)).toBe(Object.prototype);
  });

  it('the bytes of one are not changed by the next', () => {
    const first = encodeDefinition(plain);
    const kept = first.slice();
    encodeDefinition({ ...plain, uri: 'http://other.example/' });
    expect(first).toEqual(kept);
  });

  it('a plain timer is small', () => {
    expect(encodeDefinition(plain).length).toBeLessThanOrEqual(12 + plain.uri.length);
  });

  it('the trace can be read and taken off without the rest, and costs nothing where there is none', () => {
    fc.assert(
      fc.property(definition, (one) => {
        const bytes = encodeDefinition(one);
        expect(traceOf(bytes)).toBe(one.trace);
        expect(isInterval(bytes)).toBe(one.timing.kind === 'interval');
        expect(isKeyed(bytes)).toBe(one.idempotent);
        const bare = encodeDefinition({ ...one, trace: null });
        expect(withoutTrace(bytes)).toEqual(bare);
        expect(bytes.length - bare.length).toBe(one.trace === null ? 0 : 26);
      }),
    );
  });

  it('cut anywhere they are malformed', () => {
    fc.assert(
      fc.property(definition, fc.double({ min: 0, max: 0.999, noNaN: true }), (one, share) => {
        const bytes = encodeDefinition(one);
        const cut = bytes.subarray(0, Math.floor(bytes.length * share));
        expect(() => decodeDefinition(cut)).toThrow(MalformedError);
      }),
    );
  });

  it('any bytes, and any damage to good ones, give a definition or MalformedError', () => {
    const damaged = fc
      .tuple(
        definition,
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), {
          minLength: 1,
          maxLength: 4,
        }),
      )
      .map(([one, changes]) => {
        const bytes = encodeDefinition(one);
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        return bytes;
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), damaged), (bytes) => {
        try {
          expect(decodeDefinition(bytes)).toHaveProperty('timing');
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedError);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['nothing', []],
    ['no timing', [0]],
    ['a field of a later release', [19, 0]],
  ])('%s is malformed', (_, bytes) => {
    expect(() => decodeDefinition(Uint8Array.from(bytes))).toThrow(MalformedError);
  });
});

describe('DefinitionTexts', () => {
  it('finds the uri and the tags that a decoded definition has, wherever its bytes are', () => {
    const texts = new DefinitionTexts();
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    fc.assert(
      fc.property(definition, fc.nat({ max: 9 }), (one, gap) => {
        const body = encodeDefinition(one);
        const bytes = new Uint8Array(gap + body.length + 3);
        bytes.set(body, gap);
        expect(texts.read(bytes, gap, gap + body.length)).toBe(true);
        const textAt = (from = 0, to = 0): string => decoder.decode(bytes.subarray(from, to));
        expect(textAt(texts.uriFrom, texts.uriTo)).toBe(one.uri);
        const tags = Array.from({ length: texts.tagCount }, (_, i) =>
          textAt(texts.tags[i * 2], texts.tags[i * 2 + 1]),
        );
        expect(tags).toEqual([...one.tags, ...one.tagInfo.map(({ type }) => type)]);
      }),
    );
  });

  it('does not answer for bytes that have a field it does not know, or no end', () => {
    const texts = new DefinitionTexts();
    for (const bytes of [[], [200, 0], [9, 3, 65], [15, 200, 200, 200, 200]]) {
      expect(texts.read(Uint8Array.from(bytes), 0, bytes.length)).toBe(false);
    }
  });
});
