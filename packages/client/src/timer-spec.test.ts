import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bodyOf, type TimerSpec, usualText } from './timer-spec.ts';

const uri = 'http://r/x';

describe('bodyOf', () => {
  test.each<[string, TimerSpec, object]>([
    ['in, text', { in: '1.5m', uri }, { interval: 90 }],
    ['in, number', { in: 250, uri }, { interval: 0.25 }],
    ['every with for', { every: '10s', for: '1m', uri }, { interval: 10, 'repeat-for': 60 }],
    ['every with count', { every: '10s', count: 3, uri }, { interval: 10, count: 3 }],
    ['every forever', { every: '1h', forever: true, uri }, { interval: 3600, forever: true }],
    ['at a date', { at: new Date(0), uri }, { at: '1970-01-01T00:00:00.000Z' }],
    ['at a text', { at: '2030-01-31T09:00:00+01:00', uri }, { at: '2030-01-31T08:00:00.000Z' }],
    [
      'cron',
      { cron: '0 9 * * *', timezone: 'Europe/Berlin', until: 0, uri },
      { cron: '0 9 * * *', timezone: 'Europe/Berlin', until: '1970-01-01T00:00:00.000Z' },
    ],
  ])('timing: %s', (_name, spec, timing) => {
    expect(bodyOf(spec)['timing']).toEqual(timing);
  });

  test.each([
    [{ in: '1s', uri: 'http://r/', tag: ['x'] }, 'A timer has no tag; did you mean tags?'],
    [{ in: '1s', uri: 'http://r/', retry: { maxAttempt: 3 } }, 'did you mean retry.maxAttempts?'],
    [{ in: '1s', uri: 'http://r/', somethingElse: 1 }, 'the names are in, every,'],
  ])('%j is refused: %s', (spec, sentence) => {
    expect(() => bodyOf(spec as TimerSpec)).toThrow(sentence);
  });

  test('everything else lands where the API wants it', () => {
    const spec: TimerSpec = {
      in: 0,
      uri,
      opaque: '',
      method: 'PUT',
      headers: { a: 'b' },
      timeout: '2s',
      retry: { limit: '1h', base: 500, maxWait: '1m', maxAttempts: 4 },
      tags: ['x'],
      factor: 3,
    };
    expect(bodyOf(spec)).toEqual({
      timing: { interval: 0 },
      callback: {
        http: { uri, opaque: '', method: 'PUT', headers: { a: 'b' }, timeout: 2 },
        retry: { limit: 3600, base: 0.5, 'max-wait': 60, 'max-attempts': 4 },
      },
      reliability: { 'replication-factor': 3 },
      tags: ['x'],
    });
  });

  test.each<[TimerSpec, string]>([
    [{ in: '10', uri }, 'in must be'],
    [{ in: Number.NaN, uri }, 'in must be'],
    [{ every: -1, count: 1, uri }, 'every must be'],
    [{ at: 'tomorrow', uri }, 'at must be'],
    [{ at: '2027-02-30T00:00:00Z', uri }, 'at has the day 2027-02-30, which does not exist.'],
    [{ in: 1, uri, retry: { base: 'x' } }, 'retry.base must be'],
  ])('%j is refused before anything is sent', (spec, sentence) => {
    expect(() => bodyOf(spec)).toThrow(sentence);
  });
});

describe('usualText', () => {
  const waits = fc.oneof(fc.double({ noNaN: true, min: 0, max: 1e15 }), fc.nat(), fc.constant(-0));
  const texts = fc.string({ unit: 'binary' });

  test('is the JSON of bodyOf', () => {
    const specs = fc.record(
      { in: waits, uri: texts, opaque: texts },
      { requiredKeys: ['in', 'uri'] },
    );
    fc.assert(
      fc.property(specs, (spec) => {
        expect(usualText(spec)).toBe(JSON.stringify(bodyOf(spec)));
      }),
    );
  });

  test.each([
    ['a text in `in`', { in: '10s', uri }],
    ['another name', { in: 10, uri, tags: ['a'] }],
    ['a slip of the fingers', { in: 10, uri, tagz: ['a'] }],
    ['data', { in: 10, uri, name: 'n', data: 1 }],
    ['no `in`', { at: 0, uri }],
    ['an opaque that is no text', { in: 10, uri, opaque: 7 }],
    [
      'an inherited name',
      Object.create({ method: 'PUT' }, { in: { value: 10, enumerable: true } }),
    ],
  ])('%s: null', (_what, spec) => {
    expect(usualText(spec as TimerSpec)).toBeNull();
  });

  test.each([Number.NaN, -1, Number.POSITIVE_INFINITY])(
    'in: %d is refused, as by bodyOf',
    (wait) => {
      expect(() => usualText({ in: wait, uri })).toThrow('in must be milliseconds');
    },
  );
});
