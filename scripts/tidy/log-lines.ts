/**
 * One form for log lines: a sentence with a capital and a full stop, and the event as the first field. The compiler
 * asks for the field (`LogFields` in core); this rule looks at the words.
 */
import { type Finding, isSyntax, isTest, nameOf, type Rule, type Syntax } from './source.ts';

const levels = new Set(['debug', 'info', 'warn', 'error']);
const eventName = /^[a-z]+(?:-[a-z]+)*$/;

export const logLines: Rule = (source) => {
  const { path } = source;
  if (!path.startsWith('packages/') || isTest(path) || path.includes('/testing/')) return [];
  return source.vertices.flatMap(({ syntax }): Finding[] => {
    if (!isLogCall(syntax)) return [];
    const line = source.lineAt(syntax.start);
    return faultsOf(syntax['arguments'] as readonly Syntax[]).map((says) => ({ path, line, says }));
  });
};

/** `log.warn(…)`, `this.options.log.warn(…)`, `log[level](…)`. */
function isLogCall(syntax: Syntax): boolean {
  const { callee } = syntax;
  if (syntax.type !== 'CallExpression' || !isSyntax(callee)) return false;
  if (callee.type !== 'MemberExpression') return false;
  const { object, property, computed } = callee;
  const name = nameOf(property);
  if (computed !== true && (name === null || !levels.has(name))) return false;
  if (!isSyntax(object)) return false;
  return (
    (object.type === 'MemberExpression' ? nameOf(object['property']) : nameOf(object)) === 'log'
  );
}

function faultsOf([message, fields]: readonly Syntax[]): string[] {
  const faults: string[] = [];
  const text = message?.['value'];
  if (message?.type === 'Literal' && typeof text === 'string' && !isSentence(text)) {
    faults.push(
      `the log line "${text}" is no sentence: begin with a capital, end with a full stop`,
    );
  }
  const event = eventIn(fields);
  if (event !== null && !eventName.test(event)) {
    faults.push(`the event "${event}" of a log line is not of small letters and dashes`);
  }
  return faults;
}

function isSentence(text: string): boolean {
  return /^[A-Z]/.test(text) && text.endsWith('.');
}

/** null: the event is not a plain text, or the compiler complains of its absence. */
function eventIn(fields: Syntax | undefined): string | null {
  const properties = (fields?.['properties'] ?? []) as readonly Syntax[];
  const event = properties.find(({ key }) => nameOf(key) === 'event')?.['value'];
  return isSyntax(event) && typeof event['value'] === 'string' ? event['value'] : null;
}
