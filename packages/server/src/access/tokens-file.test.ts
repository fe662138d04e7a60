import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { testToken } from '../testing/tokens.ts';
import { parseTokens, renderTokens, TokensFileError, tokensMax } from './tokens-file.ts';

const { token } = testToken(1, { namespace: 'team-a', until: '2030-01-01T00:00:00.000Z' });

const numberKey = '0f'.repeat(32);

describe('the tokens file', () => {
  test('gives back the written entries, and holds no token', () => {
    const all = [token, testToken(2).token];
    const text = renderTokens({ tokens: all, numberKey });
    expect(parseTokens(text)).toEqual({ tokens: all, numberKey });
    expect(text).not.toContain(testToken(2).text);
    expect(parseTokens('{"tokens": []}')).toEqual({ tokens: [], numberKey: null });
    expect(renderTokens({ tokens: [], numberKey: null })).not.toContain('key');
  });

  test('that is very long or nested very deep is refused before it is parsed', () => {
    for (const text of ['['.repeat(2_000_000), '{"tokens":'.repeat(9), ' '.repeat(9_000_000)])
      expect(() => parseTokens(text)).toThrow('too long, or too many brackets are open');
  });

  test('may have brackets and quotes in its names', () => {
    const all = Array.from({ length: 20 }, (_, i) => ({
      ...testToken(i).token,
      name: i % 2 === 0 ? '[{[{[{ \\' : '"[[[',
    }));
    expect(parseTokens(renderTokens({ tokens: all, numberKey: null })).tokens).toEqual(all);
  });

  test.each([
    ['id', '0123456789AB'],
    ['id', '__proto__'],
    ['name', ''],
    ['name', 'a\nb'],
    ['name', 'x'.repeat(101)],
    ['scope', 'root'],
    ['scope', ['admin']],
    ['namespace', ''],
    ['namespace', 'Team'],
    ['namespace', 'a*'],
    ['digest', 'secret'],
    ['digest', 'f'.repeat(63)],
    ['created', 'once'],
    ['until', 'soon'],
    ['until', 17],
  ])('a token whose %s is %j is refused, by its place and without repeating it', (field, value) => {
    const text = JSON.stringify({ tokens: [testToken(2).token, { ...token, [field]: value }] });
    expect(() => parseTokens(text)).toThrow(/^Token 2 of the tokens file must have .*"/);
    expect(() => parseTokens(text)).not.toThrow(token.digest);
  });

  test.each([
    ['', /not JSON/],
    ['carillon_secret', /not JSON\.$/],
    ['[]', /list "tokens"/],
    ['null', /list "tokens"/],
    ['{"tokens": {}}', /list "tokens"/],
    ['{"tokens": [null]}', /Token 1/],
    [renderTokens({ tokens: [token, { ...token, name: 'other' }], numberKey: null }), /same id/],
    [renderTokens({ tokens: [], numberKey: 'ab' }), /"number-key" .* must have 64 hex digits\.$/],
    ['{"tokens": [], "number-key": 7}', /"number-key"/],
    [`{"tokens": [${'0,'.repeat(tokensMax)}0]}`, /more than/],
  ])('%.30s is refused', (text, why) => {
    expect(() => parseTokens(text)).toThrow(TokensFileError);
    expect(() => parseTokens(text)).toThrow(why);
  });

  test('anything else than tokens is refused with a sentence, never another error', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        for (const each of [text, `{"tokens": [${text}]}`]) {
          expect(() => parseTokens(each)).toThrow(TokensFileError);
        }
      }),
    );
  });
});
