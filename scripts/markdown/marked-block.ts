/**
 * A part of a Markdown page that a program writes: everything between two comments, of which the first names the
 * command.
 */

export interface Marks {
  readonly name: string;
  /** The command that writes the block. */
  readonly by: string;
}

/** Puts lines in the place of the block. Throws when the page has no such block. */
export function withMarkedBlock(page: string, marks: Marks, lines: readonly string[]): string {
  const { begin, from, to } = placeOf(page, marks);
  if (from < 0 || to < from) throw new Error(`The page has no block ${marks.name}: ${begin}`);
  const text = lines.length === 0 ? '' : `${lines.join('\n')}\n\n`;
  return `${page.slice(0, from)}${begin}\n\n${text}${page.slice(to)}`;
}

/** The lines of the block that say something; none where the page has no such block. */
export function markedLines(page: string, marks: Marks): readonly string[] {
  const { begin, from, to } = placeOf(page, marks);
  if (from < 0 || to < from) return [];
  return page
    .slice(from + begin.length, to)
    .split('\n')
    .filter((line) => line !== '');
}

export function hasMarkedBlock(page: string, marks: Marks): boolean {
  const { from, to } = placeOf(page, marks);
  return from >= 0 && to > from;
}

function placeOf(page: string, { name, by }: Marks): { begin: string; from: number; to: number } {
  const begin = `<!-- ${name}: written by ${by} -->`;
  return { begin, from: page.indexOf(begin), to: page.indexOf(`<!-- end of ${name} -->`) };
}

/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)];
}
