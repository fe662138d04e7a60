/** How big things may get: a function fits on a screen, a file has one job, a call can be read. */
import { type Finding, flatten, isTest, nameOf, type Rule, type Syntax } from './source.ts';

const functionLinesMax = 70;
const fileLinesMax = 500;
const parametersMax = 4;

const functionTypes = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
]);
/** Have no body but the same limit on parameters: a port is called as often as a function. */
const signatureTypes = new Set([
  'TSDeclareFunction',
  'TSEmptyBodyFunctionExpression',
  'TSMethodSignature',
  'TSFunctionType',
]);
const suiteCalls = new Set(['describe', 'test', 'it', 'scenario']);

export const fileSize: Rule = (source) =>
  source.lineCount <= fileLinesMax
    ? []
    : [
        {
          path: source.path,
          line: fileLinesMax + 1,
          says: `the file has ${source.lineCount} lines; ${fileLinesMax} is the limit: give its second job a file of its own`,
        },
      ];

export const functionSize: Rule = (source) => {
  const findings: Finding[] = [];
  for (const { syntax, parent } of source.vertices) {
    if (!functionTypes.has(syntax.type)) continue;
    const lines = source.lineAt(syntax.end) - source.lineAt(syntax.start) + 1;
    if (lines <= functionLinesMax) continue;
    if (isTest(source.path) && isSuite(syntax)) continue;
    const name = functionName(syntax, parent);
    findings.push({
      path: source.path,
      line: source.lineAt(syntax.start),
      says: `${name} has ${lines} lines; ${functionLinesMax} is the limit: split it`,
    });
  }
  return findings;
};

export const parameterCount: Rule = (source) => {
  const findings: Finding[] = [];
  for (const { syntax, parent } of source.vertices) {
    if (!functionTypes.has(syntax.type) && !signatureTypes.has(syntax.type)) continue;
    const count = parametersOf(syntax);
    if (count <= parametersMax) continue;
    findings.push({
      path: source.path,
      line: source.lineAt(syntax.start),
      says: `${functionName(syntax, parent)} takes ${count} parameters; ${parametersMax} is the limit: pass one options object`,
    });
  }
  return findings;
};

function parametersOf(syntax: Syntax): number {
  const params = syntax['params'];
  return Array.isArray(params) ? params.length : 0;
}

/** A function that defines tests is a list, not a procedure: its length says nothing. */
function isSuite(syntax: Syntax): boolean {
  return flatten(syntax).some(
    ({ syntax: inner }) => inner.type === 'CallExpression' && suiteCalls.has(calledName(inner)),
  );
}

/** `test`, `test.each`, `test.each(table)`: all count as `test`. */
function calledName(call: Syntax): string {
  let callee: unknown = call['callee'];
  while (typeof callee === 'object' && callee !== null) {
    const name = nameOf(callee);
    if (name !== null) return name;
    const outer = callee as Syntax;
    callee = outer['object'] ?? outer['callee'];
  }
  return '';
}

function functionName(syntax: Syntax, parent: Syntax | null): string {
  const name =
    nameOf(syntax['id']) ??
    nameOf(syntax['key']) ??
    nameOf(parent?.['key']) ??
    nameOf(parent?.['id']);
  return name === null ? 'this function' : `the function ${name}`;
}
