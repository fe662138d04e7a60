/**
 * One word, one meaning (docs/glossary.md), and nothing half-done left behind. Only names that this project declares
 * are looked at: a library may call its own things as it likes.
 */
import {
  type Comment,
  type Finding,
  isSyntax,
  isTest,
  nameOf,
  type Rule,
  type Source,
  type Syntax,
} from './source.ts';
import type { Workspace } from './workspace.ts';

const banned: Readonly<Record<string, string>> = {
  node: 'member, domain or target',
  shard: 'replica or target',
  master: 'primary',
  slave: 'backup',
  fire: 'pop',
  fired: 'popped',
  expire: 'end, or fall due',
  expired: 'ended, due or lost',
  util: 'a word for its job',
  utils: 'a word for its job',
};
/** Names of Node itself. */
const unavoidable = new Set(['nodeVersion', 'nodeOptions', 'nodeModules']);

/**
 * Words that belong to the subject of a package: a lease of etcd expires, a level of a topology and a rival's members
 * may be called node.
 */
const spoken: readonly { readonly place: RegExp; readonly words: readonly string[] }[] = [
  { place: /^packages\/ring\//, words: ['expire', 'expired'] },
  { place: /^packages\/placement\/.*\.test\.ts$/, words: ['node'] },
  { place: /^bench\//, words: ['node'] },
];

const declarations: Readonly<Record<string, readonly string[]>> = {
  VariableDeclarator: ['id'],
  FunctionDeclaration: ['id', 'params'],
  FunctionExpression: ['id', 'params'],
  ArrowFunctionExpression: ['params'],
  ClassDeclaration: ['id'],
  PropertyDefinition: ['key'],
  MethodDefinition: ['key'],
  TSInterfaceDeclaration: ['id'],
  TSTypeAliasDeclaration: ['id'],
  TSPropertySignature: ['key'],
  TSMethodSignature: ['key', 'params'],
  TSFunctionType: ['params'],
};

export const bannedWords: Rule = (source) => {
  const findings: Finding[] = [];
  const look = (name: string, line: number): void => {
    const word = bannedWordIn(name);
    if (word === null || isSpoken(source.path, word)) return;
    const says = `the name ${name} says "${word}"; the glossary's word is ${banned[word]}`;
    findings.push({ path: source.path, line, says });
  };
  look(source.path.replace(/^.*\//, '').replace(/\..*$/, ''), 1);
  for (const { syntax } of source.vertices) {
    for (const key of declarations[syntax.type] ?? []) {
      for (const name of boundNames(syntax[key])) look(name, source.lineAt(syntax.start));
    }
  }
  return findings;
};

function isSpoken(path: string, word: string): boolean {
  return spoken.some(({ place, words }) => place.test(path) && words.includes(word));
}

export function bannedWordIn(name: string): string | null {
  if (unavoidable.has(name)) return null;
  const words = name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
  for (const word of words) {
    if (Object.hasOwn(banned, word)) return word;
    const single = word.replace(/s$/, '');
    if (Object.hasOwn(banned, single)) return single;
  }
  return null;
}

/** The plain names a declaration introduces; a destructured property keeps the name it has at its origin. */
function boundNames(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(boundNames);
  const name = nameOf(value);
  if (name !== null) return [name];
  if (!isSyntax(value)) return [];
  if (value.type === 'AssignmentPattern') return boundNames(value['left']);
  if (value.type === 'RestElement') return boundNames(value['argument']);
  return [];
}

const unfinished = /\b(FIXME|TODO|XXX)\b/;

export const leftovers: Rule = (source) =>
  source.comments
    .filter(({ text }) => unfinished.test(text))
    .map(({ text, line }) => ({
      path: source.path,
      line: line + text.slice(0, text.search(unfinished)).split('\n').length - 1,
      says: `a comment says ${unfinished.exec(text)?.[0]}: do it now, or open an issue and leave the reason here`,
    }));

const runners = new Set(['test', 'it', 'describe', 'scenario', 'suite', 'bench']);
/** `skipIf` and `runIf` say their reason: the condition. */
const skips = new Set(['skip', 'todo', 'fails']);

/** `.only` hides all other tests; a skipped test must say why in a comment on its line or right above. */
export const focusedTests: Rule = (source) => {
  if (!isTest(source.path)) return [];
  const findings: Finding[] = [];
  for (const { syntax } of source.vertices) {
    const property = runnerProperty(syntax);
    if (property === null) continue;
    const line = source.lineAt(syntax.start);
    if (property === 'only') {
      const says = 'a focused test (.only) hides all the others: remove the focus';
      findings.push({ path: source.path, line, says });
    }
    if (skips.has(property) && !hasReason(source, line)) {
      const says = `a test with .${property} gives no reason: say why in a comment right above it`;
      findings.push({ path: source.path, line, says });
    }
  }
  return findings;
};

function runnerProperty(syntax: Syntax): string | null {
  if (syntax.type !== 'MemberExpression') return null;
  const runner = nameOf(syntax['object']);
  return runner !== null && runners.has(runner) ? nameOf(syntax['property']) : null;
}

function hasReason({ comments }: Source, line: number): boolean {
  const near = (comment: Comment): boolean =>
    comment.lineEnd === line || comment.lineEnd === line - 1;
  return comments.some((comment) => near(comment) && comment.text.trim().length >= 10);
}

/** A public surface is written down name by name, so that nothing leaks out of it unnoticed. */
export const exportStar: Rule = (source) =>
  source.vertices
    .filter(({ syntax }) => syntax.type === 'ExportAllDeclaration')
    .map(({ syntax }) => ({
      path: source.path,
      line: source.lineAt(syntax.start),
      says: 'export * hides the public names: list them',
    }));

const freeRelative = /\b(who|whoever|whom|those|nobody|somebody|everybody|what|whatever)\b/i;
/**
 * One-line comments in `packages` that may still carry such a word; lowered as comments are rewritten, never raised.
 */
export const freeRelativeCountMax = 1;
const filesNamed = 5;

/**
 * A comment names the thing it speaks of (CONTRIBUTING.md, "Words"): "who", "those" or "what" send the reader to the
 * code below. Some sentences need such a word, so the rule limits the total over all packages instead of each comment.
 */
export function freeRelatives(workspace: Workspace, countMax = freeRelativeCountMax): Finding[] {
  const count = freeRelativeCount(workspace);
  if (count <= countMax) return [];
  return commentsThatSend(workspace)
    .toSorted((a, b) => b.lines.length - a.lines.length)
    .slice(0, filesNamed)
    .map(({ path, lines }) => ({
      path,
      line: (lines[0] as Comment).line,
      says: `${lines.length} of ${count} one-line comments in packages say who, those, nobody or what, at most ${countMax} may: name the thing`,
    }));
}

/** How many one-line comments in `packages` have such a word. */
export function freeRelativeCount(workspace: Workspace): number {
  return commentsThatSend(workspace).reduce((sum, { lines }) => sum + lines.length, 0);
}

function commentsThatSend({ sources }: Workspace): { path: string; lines: Comment[] }[] {
  return sources
    .filter(({ path }) => path.startsWith('packages/'))
    .map(({ path, comments }) => ({ path, lines: comments.filter(sendsToTheCode) }))
    .filter(({ lines }) => lines.length > 0);
}

function sendsToTheCode({ text, line, lineEnd }: Comment): boolean {
  return line === lineEnd && freeRelative.test(text);
}
