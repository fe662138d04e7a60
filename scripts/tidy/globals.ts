/**
 * Time, chance and the process's surroundings come through the ports in `Env`. Code that reaches for the globals
 * cannot run in virtual time, and a simulated run of it cannot be repeated from its seed.
 */
import { type Finding, isTest, nameOf, type Rule, type Syntax } from './source.ts';

/** Where the real world is allowed in. */
const edges: readonly RegExp[] = [
  /^packages\/[^/]+\/src\/(.*\/)?system(-[a-z-]+)?\.ts$/,
  /^packages\/core\/src\/system\//,
  /^packages\/(cli|dashboard)\//,
  /^packages\/sim\/src\/main\.ts$/,
  /\/testing\//,
  /^(bench|scripts|test|examples)\//,
  /^[^/]+$/,
];

const members: Readonly<Record<string, readonly string[]>> = {
  Date: ['now'],
  Math: ['random'],
  performance: ['now', 'timeOrigin'],
  process: ['env', 'hrtime', 'uptime'],
  crypto: ['randomUUID', 'getRandomValues'],
  AbortSignal: ['timeout'],
};
const names = new Set(['setTimeout', 'setInterval', 'setImmediate']);
const modules = new Set(['node:timers', 'node:timers/promises', 'node:perf_hooks']);

export const globals: Rule = (source) => {
  if (isTest(source.path) || edges.some((edge) => edge.test(source.path))) return [];
  const findings: Finding[] = [];
  const found = (line: number, what: string): void => {
    const says = `${what} is used outside the ports: take time, chance and settings from Env, or do it in a system file`;
    findings.push({ path: source.path, line, says });
  };
  for (const { syntax, parent } of source.vertices) {
    const what = memberUse(syntax) ?? dateOfNow(syntax) ?? bareUse(syntax, parent);
    if (what !== null) found(source.lineAt(syntax.start), what);
  }
  for (const { from, line, typeOnly } of source.imports) {
    if (!typeOnly && modules.has(from)) found(line, from);
  }
  return findings;
};

function memberUse(syntax: Syntax): string | null {
  if (syntax.type !== 'MemberExpression') return null;
  const property = nameOf(syntax['property']);
  if (property === null) return null;
  const object = nameOf(syntax['object']);
  if (object === 'globalThis' && names.has(property)) return property;
  const banned = object !== null && Object.hasOwn(members, object) ? members[object] : undefined;
  return banned?.includes(property) ? `${object}.${property}` : null;
}

/** `new Date()` reads the clock, `new Date(ms)` does not. */
function dateOfNow(syntax: Syntax): string | null {
  if (nameOf(syntax['callee']) !== 'Date') return null;
  if (syntax.type === 'CallExpression') return 'Date()';
  const given = syntax['arguments'];
  return Array.isArray(given) && given.length === 0 ? 'new Date()' : null;
}

/** The name itself, called or passed on; not a property or a method that happens to be called the same. */
function bareUse(syntax: Syntax, parent: Syntax | null): string | null {
  const name = nameOf(syntax);
  if (name === null || !names.has(name)) return null;
  const isLabel = parent?.['key'] === syntax && parent['shorthand'] !== true;
  const isProperty = parent?.type === 'MemberExpression' && parent['property'] === syntax;
  return isLabel || isProperty ? null : name;
}
