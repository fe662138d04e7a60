/** Runs the attacks one after the other, and makes a table of the results. */
import { table } from '../../../scripts/markdown/marked-block.ts';
import type { Finding, Measured } from './finding.ts';

export interface Tried extends Finding, Measured {}

export async function tryFindings(
  all: readonly Finding[],
  tell: (line: string) => void,
): Promise<Tried[]> {
  const tried: Tried[] = [];
  for (const finding of all) {
    const measured = await finding.run().catch((error: unknown) => ({
      now: `it failed: ${error instanceof Error ? error.message : String(error)}`,
      holds: false,
    }));
    tell(`${finding.number} ${finding.attack}: ${measured.now}`);
    tried.push({ ...finding, ...measured });
  }
  return tried;
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
