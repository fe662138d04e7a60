/** Parts of docs/security.md that `npm run security -- --write` writes: each stands between two comments. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withMarkedBlock } from '../../../scripts/markdown/marked-block.ts';

const page = join(import.meta.dirname, '../../../docs/security.md');
const by = 'npm run security -- --write';

export type BlockName = 'findings' | 'fuzz' | 'others';

/** Puts lines in the place of the block of this name. Throws when the page has no such block. */
export function withBlock(text: string, name: BlockName, lines: readonly string[]): string {
  return withMarkedBlock(text, { name, by }, lines);
}

export function writeBlock(name: BlockName, lines: readonly string[]): void {
  writeFileSync(page, withBlock(readFileSync(page, 'utf8'), name, lines));
}
