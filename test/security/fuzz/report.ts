/** The findings of a run, as a table for people and as JSON. */
import { table } from '../../../scripts/markdown/marked-block.ts';
import { type Found, type SurfaceResult, stopMs } from './run.ts';
import type { Tally } from './surface.ts';

export interface Run {
  readonly seed: number;
  readonly seconds: number;
  readonly rssBytes: { readonly before: number; readonly after: number };
  readonly tally: Tally;
  readonly results: readonly SurfaceResult[];
}

const columns = ['surface', 'inputs', 'understood', 'refused', 'longest stop ms', 'kept KiB'];
const count = new Intl.NumberFormat('en');

export function inputsOf({ results }: Run): number {
  return results.reduce((sum, { inputs }) => sum + inputs, 0);
}

export function foundIn({ results }: Run): Found[] {
  return results.flatMap(({ found }) => (found === null ? [] : [found]));
}

function countOf(run: Run, kind: Found['kind']): number {
  return foundIn(run).filter((found) => found.kind === kind).length;
}

/** For docs/security.md. */
export function asMarkdown(run: Run): string[] {
  const { tally, results, seed, rssBytes } = run;
  const longest = Math.max(...results.map(({ longestMs }) => longestMs));
  const rows = [
    ['inputs', `${count.format(inputsOf(run))} into ${results.length} surfaces, seed ${seed}`, ''],
    ['crashes', String(countOf(run, 'crash')), '0'],
    ['answers 5xx', String(tally.serverErrors), '0'],
    [`stops over ${stopMs} ms of CPU`, String(countOf(run, 'stop')), '0'],
    ['longest stop', `${longest.toFixed(1)} ms`, `${stopMs} ms`],
    ['strangers let in', String(tally.strangersLetIn), '0'],
    ['forbidden connections', String(tally.forbiddenConnections), '0'],
    ['forbidden addresses refused', count.format(tally.addressesRefused), ''],
    ['surfaces that keep memory of their inputs', String(countOf(run, 'memory')), '0'],
    ['resident memory', `${mebibytes(rssBytes.before)} → ${mebibytes(rssBytes.after)}`, ''],
  ];
  return table(['', 'found', 'limit'], rows);
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

export function asTable(run: Run): string {
  const rows = run.results.map((one) => [
    one.name,
    count.format(one.inputs),
    count.format(one.taken),
    count.format(one.refused),
    one.longestMs.toFixed(1),
    String(Math.round(one.grownBytes / 1024)),
  ]);
  const widths = columns.map((name, i) =>
    Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ');
  return [line(columns), ...rows.map(line), '', ...totals(run)].join('\n');
}

function totals(run: Run): string[] {
  const { tally, rssBytes, seconds, seed } = run;
  const mb = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
  return [
    `inputs tried            ${count.format(inputsOf(run))} in ${seconds.toFixed(1)} s, seed ${seed}`,
    `crashes                 ${countOf(run, 'crash')}`,
    `stops over ${stopMs} ms        ${countOf(run, 'stop')}`,
    `answers 5xx             ${tally.serverErrors}`,
    `strangers let in        ${tally.strangersLetIn}`,
    `addresses refused       ${count.format(tally.addressesRefused)}`,
    `forbidden connections   ${tally.forbiddenConnections}`,
    `resident memory         ${mb(rssBytes.before)} before, ${mb(rssBytes.after)} after`,
  ];
}

/** The input that went wrong, and how to see it again. */
export function asComplaint({ surface, what, input }: Found): string {
  const base64 = Buffer.from(input).toString('base64');
  return [
    `${surface}: ${what}`,
    `  input: ${JSON.stringify(Buffer.from(input).toString('latin1')).slice(0, 500)}`,
    `  again: npm run security -- --surface ${surface} --input ${base64 === '' ? "''" : base64}`,
  ].join('\n');
}

export function asJson(run: Run): string {
  const found = foundIn(run).map((one) => ({
    ...one,
    input: Buffer.from(one.input).toString('base64'),
  }));
  const surfaces = run.results.map((one) => ({ ...one, found: one.found !== null }));
  const { seed, seconds, rssBytes, tally } = run;
  const [crashes, stops] = [countOf(run, 'crash'), countOf(run, 'stop')];
  const all = {
    seed,
    seconds,
    inputs: inputsOf(run),
    crashes,
    stops,
    ...tally,
    rssBytes,
    surfaces,
    found,
  };
  return JSON.stringify(all, null, 2);
}
