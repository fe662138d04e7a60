/**
 * Removes the statements `invariant(…);` from a source text, conditions and all, so that their cost can be measured.
 * Declarations and imports of `invariant` stay.
 *
 *   strip("a(); invariant(b(c), 'd'); e();")  →  "a();  e();"
 */
const statement = /(?<=^|[;{}]|\*\/)(\s*)invariant\(/gm;

export function strip(source: string): { readonly text: string; readonly count: number } {
  let text = '';
  let from = 0;
  let count = 0;
  for (const match of source.matchAll(statement)) {
    const start = match.index + (match[1]?.length ?? 0);
    if (start < from) continue;
    text += source.slice(from, start);
    from = endOfStatement(source, start + 'invariant('.length);
    count++;
  }
  return { text: text + source.slice(from), count };
}

/** The index behind the semicolon of a call whose arguments begin at `at`. */
function endOfStatement(source: string, at: number): number {
  let depth = 1;
  let quote = '';
  for (let i = at; i < source.length; i++) {
    const char = source.charAt(i);
    if (quote !== '') {
      if (char === '\\') i++;
      else if (char === quote) quote = '';
    } else if ('\'"`'.includes(char)) quote = char;
    else if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (char === ';' && depth === 0) return i + 1;
  }
  throw new Error('A call of invariant has no end.');
}
