/**
 * The table of docs/cost.md that `npm run bench:pairs -- --b-args=… --write` fills, a row for each set of arguments.
 * Without arguments the two members are equal: that row says how far members differ by chance. Pure.
 */
import { markedLines, withMarkedBlock } from '../../scripts/markdown/marked-block.ts';
import type { Ratio } from './ratio.ts';

export interface PairFigures {
  readonly count: number;
  readonly set: Ratio;
  readonly pop: Ratio;
}

const marks = { name: 'pairs', by: 'npm run bench:pairs -- --b-args=ARGS --write' } as const;
const head = ['| option | a set | a pop | pairs |', '|---|---:|---:|---:|'];

/** The page with the row of these arguments, in place of an earlier one. */
export function withPairs(page: string, args: string, figures: PairFigures): string {
  const name = args === '' ? '| none: two equal members |' : `| \`${args}\` |`;
  const row = `${name} ${told(figures.set)} | ${told(figures.pop)} | ${figures.count} |`;
  const lines = markedLines(page, marks).filter((line) => line.startsWith('|'));
  const before = lines.filter((line) => !head.includes(line));
  const at = before.findIndex((one) => one.startsWith(name));
  const rows = at === -1 ? [...before, row] : before.with(at, row);
  return withMarkedBlock(page, marks, [...head, ...rows]);
}

function told({ a, b, low, middle, high }: Ratio): string {
  const percent = (ratio: number): string => `${((ratio - 1) * 100).toFixed(1)} %`;
  return `${a.toFixed(1)} after ${b.toFixed(1)} µs, ${percent(middle)} (${percent(low)} to ${percent(high)})`;
}
