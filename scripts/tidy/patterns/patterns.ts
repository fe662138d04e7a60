/**
 * Text from outside can be made so that a regular expression tries every way to take it apart: one such line kept the
 * event loop for seconds. So the product uses only expressions whose form proves that they take time in proportion to
 * their input.
 */
import { backtracks } from './backtracking.ts';
import { type Finding, isTest, nameOf, type Rule, type Syntax } from '../source.ts';

/** The dashboard and the simulator read nothing that a stranger wrote. */
const product = /^packages\/(core|placement|ring|server|client|cli)\/src\/(?!(.*\/)?testing\/)/;

/** Where the text is not from outside, with its origin. */
const proven: ReadonlyMap<string, string> = new Map([
  ["'(-[^'\\s]*)", 'a sentence of Node about a flag'],
  ['(?<![\\w-])--[a-z][a-z-]*', 'the help of our own commands'],
]);

export const patterns: Rule = (source) => {
  if (isTest(source.path) || !product.test(source.path)) return [];
  const findings: Finding[] = [];
  for (const { syntax } of source.vertices) {
    const why = whyNot(syntax);
    if (why !== null)
      findings.push({ path: source.path, line: source.lineAt(syntax.start), says: why });
  }
  return findings;
};

function whyNot(syntax: Syntax): string | null {
  if (nameOf(syntax['callee']) === 'RegExp')
    return 'a regular expression is put together while the program runs: write it as a literal, or read the text by index';
  const regex = syntax['regex'];
  if (syntax.type !== 'Literal' || typeof regex !== 'object' || regex === null) return null;
  const { pattern, flags } = regex as { pattern: string; flags: string };
  if (proven.has(pattern)) return null;
  const why = backtracks(pattern, flags);
  return why === null
    ? null
    : `the regular expression /${pattern}/ ${why}: read the text by index, or let one character decide`;
}
