/** Parts of docs/security.md that `npm run security -- --write` writes: each stands between two comments. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const page = join(import.meta.dirname, '../../../docs/security.md');

export type BlockName = 'findings' | 'fuzz';

/** Puts lines in the place of the block of this name. Throws when the page has no such block. */
export function withBlock(text: string, name: BlockName, lines: readonly string[]): string {
  const begin = `<!-- ${name}: written by npm run security -- --write -->\n`;
  const end = `<!-- end of ${name} -->`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/security.md has no block ${name}.`);
  return `${text.slice(0, from)}${begin}\n${lines.join('\n')}\n\n${text.slice(to)}`;
}

export function writeBlock(name: BlockName, lines: readonly string[]): void {
  writeFileSync(page, withBlock(readFileSync(page, 'utf8'), name, lines));
}

/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)];
}
