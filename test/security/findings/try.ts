/** Runs the attacks one after the other, and makes a table of the results. */
import { table } from '../../../scripts/markdown/marked-block.ts';
import type { Finding, Measured } from './finding.ts';
import type { Progress } from './resume.ts';

export interface Tried extends Finding, Measured {}

export async function tryFindings(
  all: readonly Finding[],
  tell: (line: string) => void,
  progress: Progress,
): Promise<Tried[]> {
  const tried: Tried[] = [];
  for (const finding of all) {
    const startMs = performance.now();
    const measured = progress.row(finding.attack) ?? (await made(finding));
    progress.tried(finding.attack, measured);
    const seconds = Math.round((performance.now() - startMs) / 1000);
    tell(`${finding.number} ${finding.attack}: ${measured.now} (${seconds} s)`);
    tried.push({ ...finding, ...measured });
  }
  return tried;
}

function made(finding: Finding): Promise<Measured> {
  return finding.run().catch((error: unknown) => ({
    now: `it failed: ${error instanceof Error ? error.message : String(error)}`,
    holds: false,
  }));
}

/** A table in Markdown. */
export function asRows(tried: readonly Tried[]): string[] {
  return table(
    ['', 'attack', 'before', 'now', 'limit', 'holds'],
    tried.map(({ number, attack, before, now, limit, holds }) => [
      String(number),
      attack,
      before,
      now,
      limit,
      holds ? 'yes' : '**no**',
    ]),
  );
}
