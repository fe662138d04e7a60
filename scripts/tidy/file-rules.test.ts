import { describe, expect, test } from 'vitest';
import { commentShare } from './comment-share.ts';
import { globals } from './globals.ts';
import { invariants } from './invariants.ts';
import { longComments } from './line-length.ts';
import { fileSize, functionSize, parameterCount } from './sizes.ts';
import { parse, type Rule } from './source.ts';
import { bannedWordIn, bannedWords, exportStar, focusedTests, leftovers } from './words.ts';

const inServer = 'packages/server/src/x.ts';

/** Findings of the rule in `text`, as `line sentence`. */
function findings(rule: Rule, text: string, path = inServer): string[] {
  return rule(parse(path, text)).map(({ line, says }) => `${line} ${says}`);
}

function lines(count: number): string {
  return 'f();\n'.repeat(count);
}

describe('sizes', () => {
  test('a file of 500 lines passes, one more line does not', () => {
    expect(findings(fileSize, lines(500))).toEqual([]);
    expect(findings(fileSize, lines(501))).toEqual([
      expect.stringContaining('the file has 501 lines'),
    ]);
  });

  test('a function of 70 lines passes, one more line does not, and the finding names it', () => {
    expect(findings(functionSize, `function big() {\n${lines(68)}}`)).toEqual([]);
    const [found] = findings(functionSize, `\nfunction big() {\n${lines(69)}}`);
    expect(found).toBe('2 the function big has 71 lines; 70 is the limit: split it');
  });

  test.each([
    ['method', `class A { big() {\n${lines(69)}} }`],
    ['arrow', `const big = () => {\n${lines(69)}};`],
    ['nested function', `function outer() { return function big() {\n${lines(69)}}; }`],
  ])('a long %s is found by name', (_kind, text) => {
    expect(findings(functionSize, text).join()).toContain('the function big has 71 lines');
  });

  test('a suite in a test file may be long, a procedure in it may not', () => {
    const path = 'packages/server/src/x.test.ts';
    expect(
      findings(functionSize, `describe('x', () => {\ntest('y', f);\n${lines(80)}});`, path),
    ).toEqual([]);
    expect(
      findings(functionSize, `const x = () => {\ntest.each([1])('y', f);\n${lines(80)}};`, path),
    ).toEqual([]);
    expect(findings(functionSize, `const x = () => {\n${lines(80)}};`, path)).toHaveLength(1);
    expect(findings(functionSize, `const x = () => {\ntest('y', f);\n${lines(80)}};`)).toHaveLength(
      1,
    );
  });

  test.each([
    ['function', 'function f(a, b, c, d, e) {}'],
    ['method', 'class A { f(a, b, c, d, e = 1) {} }'],
    ['constructor', 'class A { constructor(a, b, c, d, e) {} }'],
    ['method of an interface', 'interface A { f(a: 1, b: 1, c: 1, d: 1, e: 1): void }'],
    ['function type', 'type F = (a: 1, b: 1, c: 1, d: 1, ...e: 1[]) => void;'],
  ])('five parameters of a %s are one too many', (_kind, text) => {
    expect(findings(parameterCount, text).join()).toContain('takes 5 parameters');
    expect(findings(parameterCount, text.replace('a, ', '').replace('a: 1, ', ''))).toEqual([]);
  });
});

describe('share of comments', () => {
  const file = (comments: number, all: number): string =>
    '// A reason.\n'.repeat(comments) + lines(all - comments);
  const merge = 'packages/server/src/timer/merge.ts';

  test.each([
    ['a core file with a quarter', merge, [10, 40], null],
    ['a core file with less', merge, [9, 40], 'comments: a core file has a quarter'],
    ['any file with 45 %', inServer, [18, 40], null],
    ['any file with more', inServer, [19, 40], '19 of 40 lines are comments, more than 45 %'],
    ['a file of 20 lines', inServer, [19, 20], null],
    ['a test', 'packages/server/src/x.test.ts', [39, 40], null],
  ] as const)('%s', (_kind, path, [comments, all], says) => {
    const found = findings(commentShare, file(comments, all), path);
    expect(found).toEqual(says === null ? [] : [expect.stringContaining(says)]);
  });

  test('a comment behind code is no line of its own, one of three lines is three', () => {
    const text = `/**\n * Why.\n */\nf(); // Once.\n${lines(6)}`;
    expect(findings(commentShare, text, merge)).toEqual([]);
    expect(findings(commentShare, text + lines(3), merge).join()).toContain('3 of 13 lines');
  });
});

describe('invariants', () => {
  test.each([
    ["a call of the object's own method", "invariant(!this.seek(a), 'b');"],
    ['a step', "invariant(left-- > 0, 'b');"],
    ['an assignment', "invariant((a = 1) > 0, 'b');"],
  ])('%s is found', (_kind, text) => {
    expect(findings(invariants, text).join()).toContain('may change something');
  });

  test.each([
    "invariant(this.count > 0, 'b');",
    "invariant(this.all.has(a), 'b');",
    "invariant(!this.isSparse(a) && this.refOf(a) > 0, 'b');",
  ])('%s changes nothing', (text) => {
    expect(findings(invariants, text)).toEqual([]);
  });

  test('a sentence that is put together is found', () => {
    expect(findings(invariants, 'invariant(a > 0, `${b}`);').join()).toContain('a plain text');
  });
});

describe('globals', () => {
  test.each([
    ['Date.now', 'const a = Date.now();'],
    ['new Date()', 'const a = new Date();'],
    ['Date()', 'const a = Date();'],
    ['Math.random', 'const pick = Math.random;'],
    ['performance.now', 'performance.now();'],
    ['process.env', 'const { HOME } = process.env;'],
    ['crypto.randomUUID', 'crypto.randomUUID();'],
    ['AbortSignal.timeout', 'AbortSignal.timeout(1);'],
    ['setTimeout', 'setTimeout(f, 1);'],
    ['setInterval', 'const { run = setInterval } = options;'],
    ['setImmediate', 'globalThis.setImmediate(f);'],
    ['node:timers/promises', "import timers from 'node:timers/promises';"],
  ])('%s is found outside the ports', (what, text) => {
    expect(findings(globals, text)).toEqual([expect.stringContaining(`1 ${what} is used`)]);
  });

  test.each([
    ['a date from a number', 'const a = new Date(5);'],
    ['another object', 'clock.now(); random.random(); env.setTimeout(1);'],
    ['a property of that name', 'const a = { setTimeout: 1 };'],
    ['a mention in text or a comment', "const a = 'Date.now()'; // Date.now()"],
    ['a type', "import type { Timeout } from 'node:timers';"],
  ])('%s is no use of a global', (_what, text) => {
    expect(findings(globals, text)).toEqual([]);
  });

  test.each([
    ['packages/core/src/system/clock.ts', 0],
    ['packages/server/src/start/system-env.ts', 0],
    ['packages/client/src/system.ts', 0],
    ['packages/server/src/testing/kit.ts', 0],
    ['packages/server/src/x.test.ts', 0],
    ['packages/cli/src/main.ts', 0],
    ['bench/main.ts', 0],
    ['packages/server/src/systematic.ts', 1],
    ['packages/server/src/store/clock.ts', 1],
    ['packages/core/src/clock.ts', 1],
    ['packages/sim/src/cluster.ts', 1],
  ])('in %s a use of the clock counts %i', (path, count) => {
    expect(findings(globals, 'Date.now();', path)).toHaveLength(count);
  });
});

describe('words', () => {
  test.each([
    ['a variable', 'const nodes = 1;', 'node'],
    ['a function', 'function fireTimer() {}', 'fire'],
    ['a parameter', 'const f = (shardId: number) => 1;', 'shard'],
    ['a parameter with a default', 'function f(master = 1) {}', 'master'],
    ['a rest parameter', 'const f = (...nodes: string[]) => 1;', 'node'],
    ['a class', 'class SlaveList {}', 'slave'],
    ['a member of a class', 'class A { expired = 1 }', 'expired'],
    ['a member of an interface', 'interface A { nodeCount: number }', 'node'],
    ['a type', 'type Utils = 1;', 'utils'],
  ])('%s must not carry a banned word', (_kind, text, word) => {
    expect(findings(bannedWords, text)).toEqual([expect.stringContaining(`says "${word}"`)]);
  });

  test('a file must not carry a banned word', () => {
    expect(findings(bannedWords, '', 'packages/server/src/string-utils.ts')).toHaveLength(1);
  });

  test.each([
    [
      'foreign names',
      "import { node } from 'x'; lease.expire(); const { nodes: members } = reply;",
    ],
    ['words inside words', 'const firewall = 1; const mastery = 1; const anode = 1;'],
    ['text', "const a = 'node';"],
  ])('%s pass', (_kind, text) => {
    expect(findings(bannedWords, text)).toEqual([]);
  });

  test('a foreign word is allowed where its owner is the subject, nowhere else', () => {
    const text = 'const leaseExpired = true;';
    expect(findings(bannedWords, text, 'packages/ring/src/lease.ts')).toEqual([]);
    expect(findings(bannedWords, text)).toHaveLength(1);
    expect(findings(bannedWords, 'const master = 1;', 'packages/ring/src/a.ts')).toHaveLength(1);
    const level = 'const nodeLevel = 1;';
    expect(findings(bannedWords, level, 'packages/placement/src/a.test.ts')).toEqual([]);
    expect(findings(bannedWords, level, 'bench/rivals.ts')).toEqual([]);
    expect(findings(bannedWords, level, 'packages/placement/src/a.ts')).toHaveLength(1);
  });

  test('names are split at case changes, dashes and digits', () => {
    expect(bannedWordIn('maxNodeCount')).toBe('node');
    expect(bannedWordIn('on-fire')).toBe('fire');
    expect(bannedWordIn('NODE_2')).toBe('node');
    expect(bannedWordIn('nodeVersion')).toBeNull();
  });
});

describe('leftovers', () => {
  const mark = ['TO', 'DO'].join('');
  test('an unfinished mark in a comment is found at its own line', () => {
    expect(findings(leftovers, `/*\n * one\n * ${mark} two\n */`)).toEqual([
      expect.stringContaining(`3 a comment says ${mark}`),
    ]);
    expect(findings(leftovers, `const a = '${mark}';`)).toEqual([]);
  });

  const inTest = 'packages/server/src/x.test.ts';
  test('a focused test is found, in all runners', () => {
    for (const runner of ['test', 'it', 'describe']) {
      expect(findings(focusedTests, `${runner}.only('x', f);`, inTest).join()).toContain('.only');
    }
    expect(findings(focusedTests, `test('x', f);`, inTest)).toEqual([]);
  });

  test('a skipped test needs a reason right above or beside it', () => {
    expect(findings(focusedTests, `test.skip('x', f);`, inTest)).toHaveLength(1);
    expect(findings(focusedTests, `test.skipIf(noEtcd)('x', f);`, inTest)).toEqual([]);
    expect(
      findings(focusedTests, `// Needs a real etcd.\n\ntest.skip('x', f);`, inTest),
    ).toHaveLength(1);
    expect(findings(focusedTests, `// Needs a real etcd.\ntest.skip('x', f);`, inTest)).toEqual([]);
    expect(findings(focusedTests, `test.skip('x', f); // Needs a real etcd.`, inTest)).toEqual([]);
  });

  test('export * is found with and without a name', () => {
    expect(findings(exportStar, `export * from './a.ts';`)).toHaveLength(1);
    expect(findings(exportStar, `export * as a from './a.ts';`)).toHaveLength(1);
    expect(findings(exportStar, `export { a } from './a.ts';`)).toEqual([]);
  });
});

test('a line of a comment over 120 characters is found, unless it has no blank to break at', () => {
  const long = 'word '.repeat(25);
  const found = findings(
    longComments,
    `/** ${long} */\n/**\n * short\n * ${long}\n */\nf(); // ${long}`,
  );
  expect(found.map((finding) => finding.split(' ')[0])).toEqual(['1', '4', '6']);
  const url = `https://${'x'.repeat(130)}`;
  expect(findings(longComments, `// ${url}\n/** ${url} */\nconst a = '${long}';`)).toEqual([]);
});
