import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { testToken } from '../testing/tokens.ts';
import { parseTokens, renderTokens, TokensFileError, tokensMax } from './tokens-file.ts';

const { token } = testToken(1, { namespace: 'team-a', until: '2030-01-01T00:00:00.000Z' });

describe('the tokens file', () => {
  test('gives back what was written, and holds no token', () => {
    const all = [token, testToken(2).token];
    const text = renderTokens(all);
    expect(parseTokens(text)).toEqual(all);
    expect(text).not.toContain(testToken(2).text);
    expect(parseTokens('{"tokens": []}')).toEqual([]);
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
    [renderTokens([token, { ...token, name: 'other' }]), /same id/],
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
