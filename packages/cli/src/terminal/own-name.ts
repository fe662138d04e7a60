/** The words that call this binary again: a clone of the repository runs it from its sources, through npx. */
export const ownName = import.meta.filename.endsWith('.ts') ? 'npx carillon' : 'carillon';

/**
 * A text with command lines in it, such that each works where the text is read: in a clone "carillon token create"
 * becomes "npx carillon token create". A name in front of a colon is no command line: "carillon set: …" stays.
 */
export function asCalledHere(text: string, names: ReadonlySet<string>, name = ownName): string {
  const [first = '', ...others] = text.split('carillon ');
  return others.reduce((before, rest) => {
    const word = /^[A-Za-z-]+/.exec(rest)?.[0] ?? '';
    const isCall = isStart(before) && names.has(word) && rest[word.length] !== ':';
    return `${before}${isCall ? name : 'carillon'} ${rest}`;
  }, first);
}

/** Whether a command line can begin behind this text. */
function isStart(before: string): boolean {
  return !before.endsWith('npx ') && !/[\w/.-]$/.test(before.slice(-1));
}
