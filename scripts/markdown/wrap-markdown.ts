/** Paragraphs of Markdown in lines of at most 120 characters, for pages that programs write. */

export const lineLengthMax = 120;

/** Breaks between words, never inside a code span, and never before a word that would begin a list or a table. */
export function wrapMarkdown(paragraph: string): string {
  const lines: string[] = [];
  for (const piece of piecesOf(paragraph)) {
    const longer = `${lines.at(-1)} ${piece}`;
    if (lines.length > 0 && longer.length <= lineLengthMax) lines[lines.length - 1] = longer;
    else lines.push(piece);
  }
  return lines.join('\n');
}

const beginsBlock = /^(?:[-+*]|\d+[.)]|#{1,6}|[>|].*)$/;

function piecesOf(paragraph: string): string[] {
  const pieces: string[] = [];
  for (const word of paragraph.match(/(?:`[^`]*`|[^\s`]|`)+/g) ?? []) {
    if (pieces.length > 0 && beginsBlock.test(word)) pieces[pieces.length - 1] += ` ${word}`;
    else pieces.push(word);
  }
  return pieces;
}
