import { describe, expect, test } from 'vitest';
import { parse } from '../source.ts';
import { backtracks } from './backtracking.ts';
import { patterns } from './patterns.ts';

describe('regular expressions', () => {
  test.each([
    /^([!#$%&'*+\-.^_`|~\w]+):[\t ]*(.*?)[\t ]*$/,
    /^(a+)+$/,
    /^(a|a)*$/,
    /^(?:ab|ac)*$/,
    /^(?:a?)*$/,
    /^a*a*$/,
    /^a*b?a*$/,
    /^(?:a{1,20}){1,20}$/,
    /^\s+|x\s+$/,
    /[\t ]+$/,
    /\d+x/,
    /^\[(.*)\]$/,
    /^a.*b$/m,
  ])('%s may take longer than its input is long', ({ source, flags }) => {
    expect(backtracks(source, flags)).not.toBeNull();
  });

  test.each([
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    /^(https?:\/\/[a-z0-9.-]+(?::[0-9]+)?)(\/[\w/%]*(?:\?[\w/%?]+)?)?$/,
    /^(?:\d+(?:\.\d+)?(?:ms?|[shd]))+$/,
    /^[^/\s]+(?:\/+[^/\s]+)*$/,
    /(?:^|[\t ,])close(?:$|[\t ,])/i,
    /[^a-z]+/g,
    /a*b/y,
    /^\[([^\]]*)\]$/,
    /^(?:Mon|Tue), \d{2} [A-Z][a-z]{2} \d{4}$/,
  ])('%s takes no longer than its input is long', ({ source, flags }) => {
    expect(backtracks(source, flags)).toBeNull();
  });

  test.each([/(a)\1/, /(?<=a)b/, /(?=a+)b/])('%s is not understood, and refused', (pattern) => {
    expect(backtracks(pattern.source, pattern.flags)).toContain('cannot be read');
  });
});

describe('the rule on regular expressions', () => {
  const found = (path: string, text: string): string[] =>
    patterns(parse(path, text)).map(({ line, says }) => `${line} ${says}`);

  test('finds them in the product, with their line', () => {
    const text = 'const a = 1;\nconst b = /^a*a*$/;';
    expect(found('packages/server/src/x.ts', text)).toEqual([
      expect.stringMatching(/^2 the regular expression \/\^a\*a\*\$\/ has a repetition/),
    ]);
    expect(found('packages/server/src/x.test.ts', text)).toEqual([]);
    expect(found('scripts/x.ts', text)).toEqual([]);
  });

  test('finds expressions that are put together while the program runs', () => {
    expect(found('packages/core/src/x.ts', 'new RegExp(a);')).toHaveLength(1);
    expect(found('packages/core/src/x.ts', 'RegExp(a);')).toHaveLength(1);
  });
});
