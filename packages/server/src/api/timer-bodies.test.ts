import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBody } from './json.ts';
import { TimerBodies } from './timer-bodies.ts';
import { unknownMembers, warningHeaders } from './unknown-members.ts';

const depthMax = 20;

const timer = (interval: unknown, opaque: unknown, more: object = {}): object => {
  return { timing: { interval }, callback: { http: { uri: 'http://a/', opaque } }, ...more };
};

/** A copy of the lent value, or the message of the error. */
function outcomeOf(read: () => unknown): unknown {
  try {
    return structuredClone(read());
  } catch (error) {
    return String(error);
  }
}

/** Bodies that come one after the other are read as each would be by itself. */
function expectSame(texts: readonly string[]): void {
  const bodies = new TimerBodies(depthMax);
  for (const text of texts) {
    const body = Buffer.from(text);
    const alone = (): unknown => {
      const json = parseBody(body, depthMax);
      return { json, warnings: warningHeaders(unknownMembers(json)) };
    };
    expect(outcomeOf(() => bodies.read(body))).toEqual(outcomeOf(alone));
  }
}

describe('bodies of timers', () => {
  it('that differ in texts and numbers are not parsed, and have their own values', () => {
    const bodies = new TimerBodies(depthMax);
    const first = bodies.read(Buffer.from(JSON.stringify(timer(60, 'a')))).json;
    const second = bodies.read(Buffer.from(JSON.stringify(timer(60, 'b')))).json;
    expect(second).toEqual(timer(60, 'b'));
    const third = bodies.read(Buffer.from(JSON.stringify(timer(7.5, 'a')))).json;
    expect(third).toEqual(timer(7.5, 'a'));
    // The same object, lent again: nothing was parsed.
    expect(third).toBe(second);
    expect(first).toEqual(timer(60, 'a'));
  });

  it('have nothing of another body in them', () => {
    const secret = JSON.stringify(timer(60, 'secret', { tags: ['mine'] }));
    const other = JSON.stringify(timer(60, 'other', { tags: ['yours'] }));
    const cut = other.slice(0, -1);
    expectSame([other, secret, other, cut, other, `${secret} `, secret, `${secret}${secret}`]);
  });

  it('have the warnings of their own members', () => {
    const slip = timer(60, 'a', { tagss: ['x'] });
    expectSame(
      [timer(60, 'a'), slip, slip, timer(60, 'b'), slip].map((one) => JSON.stringify(one)),
    );
  });

  it.each([
    ['an empty body', ''],
    ['half of a body', '{"timing":{"interval":60'],
    ['bytes behind the end', '{"timing":{"interval":60}}]'],
    ['a text that goes on', '{"timing":{"interval":60,"x":"'],
    ['no number', '{"timing":{"interval":6-0}}'],
    ['an escape', String.raw`{"timing":{"interval":"\u0041"}}`],
    [
      'a body as long as twice the longest form',
      `{"timing":{"interval":60},"a":"${'x'.repeat(8192)}"}`,
    ],
  ])('%s is read as by itself behind one of the same beginning', (_, text) => {
    const known = '{"timing":{"interval":60}}';
    const longer = '{"timing":{"interval":60},"a":"x"}';
    expectSame([known, text, known, longer, text, longer]);
  });

  it('are remembered in forms that change: the one in use longest ago goes first', () => {
    const texts = Array.from({ length: 200 }, (_, i) => {
      const more = Object.fromEntries(Array.from({ length: i % 7 }, (__, n) => [`m${n}`, i]));
      return JSON.stringify(timer(i, `${i}`, more));
    });
    expectSame(texts);
  });

  it('are read as by themselves, in whatever order they come', () => {
    const leaf = fc.oneof(fc.string({ maxLength: 8 }), fc.integer(), fc.constantFrom(null, true));
    const more = fc.dictionary(fc.constantFrom('tags', 'a', '__proto__', 'timing'), leaf);
    const body = fc.tuple(leaf, leaf, more).map(([n, text, rest]) => {
      return JSON.stringify(timer(n, text, rest));
    });
    fc.assert(fc.property(fc.array(body, { maxLength: 30 }), expectSame));
  });
});
