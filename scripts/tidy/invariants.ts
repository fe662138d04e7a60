/**
 * The condition of an invariant looks and changes nothing: a build without invariants must behave the same. A method of
 * the object's own may change it (`this.seek` moves a cursor), so its result is taken in a line before; a method that
 * is named as a question (`isSparse`, `has`, `refOf`) changes nothing. The sentence is a plain text: a template would
 * be put together each time, though the condition holds.
 */
import { type Finding, isSyntax, isTest, nameOf, type Rule, type Syntax } from './source.ts';

const question = /^(?:is|has|can)(?:[A-Z]|$)|Of$/;
const changes = new Set(['AssignmentExpression', 'UpdateExpression', 'AwaitExpression']);

const mayChange =
  'the condition of an invariant may change something: take the result in the line before, and look at it here';
const notPlain = 'the sentence of an invariant is put together at every call: make it a plain text';

export const invariants: Rule = (source) => {
  const { path } = source;
  if (!path.startsWith('packages/') || isTest(path)) return [];
  const calls = source.vertices.map(({ syntax }) => argumentsOf(syntax));
  const conditions = calls.flatMap(([condition]) => condition ?? []);
  const sentences = calls.flatMap(([, sentence]) => sentence ?? []);
  const found = ({ start }: Syntax, says: string): Finding => {
    return { path, line: source.lineAt(start), says };
  };
  return [
    ...source.vertices
      .map(({ syntax }) => syntax)
      .filter((syntax) => changes.has(syntax.type) || callsItself(syntax))
      .filter(({ start, end }) =>
        conditions.some((condition) => condition.start <= start && end <= condition.end),
      )
      .map((syntax) => found(syntax, mayChange)),
    ...sentences
      .filter(({ type }) => type !== 'Literal')
      .map((sentence) => found(sentence, notPlain)),
  ];
};

function argumentsOf(syntax: Syntax): readonly Syntax[] {
  const isCall = syntax.type === 'CallExpression' && nameOf(syntax['callee']) === 'invariant';
  return isCall ? (syntax['arguments'] as readonly Syntax[]) : [];
}

function callsItself({ type, callee }: Syntax): boolean {
  if (type !== 'CallExpression' || !isSyntax(callee)) return false;
  const { object, property } = callee;
  if (!isSyntax(object) || object.type !== 'ThisExpression') return false;
  return !question.test(nameOf(property) ?? '');
}
