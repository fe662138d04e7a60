/**
 * `npm run bench`: runs the benchmarks of this folder one after the other; `-- --only sets,lateness` some of them. Prints
 * figures as they come and writes them to `bench/report/latest.json`.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';

/** In this order: what is quick and in one process first. */
const names = [
  'wheel',
  'wire',
  'store',
  'journal',
  'placement',
  'callback',
  'ring',
  'sets',
  'lateness',
  'footprint',
  'cluster',
];

interface Bench {
  run(report: (line: string) => void): Promise<Record<string, unknown>>;
}

const wanted = chosen(process.argv.slice(2));
if (wanted === null) {
  console.error(`Usage: npm run bench [-- --only NAME,NAME]\nNames: ${names.join(', ')}.`);
  process.exitCode = 2;
} else await runAll(wanted);

function chosen(args: readonly string[]): readonly string[] | null {
  if (args.length === 0) return names;
  const [flag, list, ...rest] = args;
  const only = (list ?? '').split(',');
  if (flag !== '--only' || rest.length > 0) return null;
  return only.every((name) => names.includes(name)) ? only : null;
}

async function runAll(list: readonly string[]): Promise<void> {
  const results: Record<string, unknown> = {};
  for (const [i, name] of list.entries()) {
    console.log(`\n[${i + 1}/${list.length}] ${name}`);
    const bench = (await import(`./${name}.ts`)) as Bench;
    results[name] = await bench.run((line) => console.log(line));
  }
  const machine = {
    cpu: cpus()[0]?.model,
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
  const folder = join(import.meta.dirname, 'report');
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'latest.json'),
    `${JSON.stringify({ machine, results }, null, 2)}\n`,
  );
}
