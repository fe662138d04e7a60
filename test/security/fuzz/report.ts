/** The findings of a run, as a table for people and as JSON. */
import type { Found, SurfaceResult } from './run.ts';
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
    `crashes                 ${foundIn(run).length}`,
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
  const crashes = found.length;
  const all = {
    seed,
    seconds,
    inputs: inputsOf(run),
    crashes,
    ...tally,
    rssBytes,
    surfaces,
    found,
  };
  return JSON.stringify(all, null, 2);
}
