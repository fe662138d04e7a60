import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { bodyOf, type Duration, type TimerSpec, usualText, type When } from './timer-spec.ts';

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
    [{ in: '1s', uri: 'http://r/', retry: null }, 'A timer needs an object as retry (of limit,'],
    [{ in: '1s', uri: 'http://r/', onFailure: 'http://r/' }, 'needs an object as onFailure (of'],
    [{ in: '1s', uri: 'http://r/', somethingElse: 1 }, 'the names are in, every,'],
  ])('%j is refused: %s', (spec, sentence) => {
    expect(() => bodyOf(spec as TimerSpec)).toThrow(sentence);
  });

  test.each([
    [{}, 'A timer needs one of in, every, at and cron.'],
    [{ in: undefined }, 'A timer needs one of in, every, at and cron.'],
    [{ in: '1h', every: '2h', count: 3 }, 'and not both in and every.'],
    [{ in: '1h', cron: '* * * * *', forever: true }, 'and not both in and cron.'],
    [{ at: 0, in: '1h' }, 'and not both in and at.'],
    [{ in: '1h', every: null }, 'and not both in and every.'],
    [{ in: '1h', count: 3 }, 'A timer with in pops once and has no count;'],
    [{ in: '1h', forever: true }, 'A timer with in pops once and has no forever;'],
    [{ at: 0, for: '1h' }, 'A timer with at pops once and has no for;'],
    [{ in: '1h', timezone: 'UTC' }, 'A timer with in has no timezone,'],
    [{ every: '1h', count: 2, timezone: 'UTC' }, 'A timer with every has no timezone,'],
    [{ every: '2h' }, 'A timer with every needs an ending: for, until, count or forever: true.'],
    [{ every: '2h', forever: false }, 'A timer with every needs an ending:'],
    [{ cron: '* * * * *' }, 'A timer with cron needs an ending:'],
    [{ every: '2h', for: '1d', count: 3 }, 'one ending, and not both for and count.'],
    [{ cron: '* * * * *', until: 1, forever: true }, 'not both until and forever.'],
  ])('%j does not say one time: %s', (when, sentence) => {
    const spec = { ...when, uri } as unknown as TimerSpec;
    expect(() => bodyOf(spec)).toThrow(TypeError);
    expect(() => bodyOf(spec)).toThrow(sentence);
  });

  test('members that are undefined, and forever: false, count as left out', () => {
    const once = { in: '1h', every: undefined, count: undefined, forever: false, uri } as const;
    expect(bodyOf(once)['timing']).toEqual({ interval: 3600 });
    const thrice = { every: '1h', count: 3, until: undefined, forever: false, uri } as const;
    expect(bodyOf(thrice)['timing']).toEqual({ interval: 3600, count: 3, forever: false });
  });

  test.each([[null], [undefined], ['10s'], [7], [[{ in: '10s', uri }]]])(
    '%j is no timer, and told so',
    (spec) => {
      const sentence = /^A timer needs an object \(of in, every, at, cron, .+, not .+\.$/;
      expect(() => bodyOf(spec as unknown as TimerSpec)).toThrow(sentence);
    },
  );

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
    [{ in: Number.NaN, uri }, "in must be milliseconds or a duration such as '10s', not NaN."],
    [{ in: Infinity, uri }, 'not Infinity.'],
    [{ in: null as unknown as Duration, uri }, 'in must be'],
    [{ at: null as unknown as Date, uri }, 'at must be a Date, milliseconds'],
    [{ at: true as unknown as Date, uri }, 'at must be a Date, milliseconds'],
    [{ every: -1, count: 1, uri }, 'every must be'],
    [{ at: 'tomorrow', uri }, 'at must be'],
    [{ at: '2027-02-30T00:00:00Z', uri }, 'at has the day 2027-02-30, which does not exist.'],
    [{ in: 1, uri, retry: { base: 'x' } }, 'retry.base must be'],
  ])('%j is refused before anything is sent', (spec, sentence) => {
    expect(() => bodyOf(spec)).toThrow(sentence);
  });
});

describe('the type of a timer', () => {
  const none = (_when: When): void => {};

  test('has each way to say when, also told by its variables', () => {
    const length: Duration = '1d';
    none({ in: '1h' });
    none({ at: new Date(0) });
    none({ every: '1h', for: length });
    none({ every: '1h', until: 0, forever: false });
    none({ every: '1h', count: 3 });
    none({ cron: '* * * * *', forever: true });
    none({ cron: '* * * * *', timezone: 'UTC', count: 3 });
    expectTypeOf<{ in: number; uri: string; tags: string[] }>().toExtend<TimerSpec>();
    expectTypeOf<{ every: string; count: number; uri: string }>().toExtend<TimerSpec>();
  });

  test('has no mixtures', () => {
    // @ts-expect-error -- in and every
    none({ in: '1h', every: '2h', count: 3 });
    // @ts-expect-error -- in and cron
    none({ in: '1h', cron: '* * * * *', forever: true });
    // @ts-expect-error -- at and in
    none({ at: 0, in: '1h' });
    // @ts-expect-error -- an ending of a timer that pops once
    none({ in: '1h', count: 3 });
    // @ts-expect-error -- an ending of a timer that pops once
    none({ at: 0, forever: true });
    // @ts-expect-error -- a timezone without cron
    none({ in: '1h', timezone: 'UTC' });
    // @ts-expect-error -- a timezone without cron
    none({ every: '1h', count: 3, timezone: 'UTC' });
    // @ts-expect-error -- two endings
    none({ every: '1h', count: 3, for: '1d' });
    // @ts-expect-error -- no time
    none({});
  });

  test('has no recurring timer without an ending', () => {
    // @ts-expect-error -- no ending
    none({ every: '2h' });
    // @ts-expect-error -- no ending
    none({ every: '2h', forever: false });
    // @ts-expect-error -- no ending
    none({ cron: '* * * * *', timezone: 'UTC' });
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
